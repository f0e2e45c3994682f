// The files of an instance: there, whole, and nobody else's business. Used by `dashctl doctor`.
#pragma once
#include "core/app/doctor.hpp"

namespace dash::app {

CheckResult good(std::string name, std::string message);
CheckResult warning(std::string name, std::string message);
CheckResult failed(std::string name, Code code, std::string message);

// What to say, and to do, where a folder holds no instance.
std::string no_instance_message(const std::string& folder);
CheckResult check_data_dir(const std::string& folder);
// `path` empty: not set, which is good.
CheckResult check_key_file(std::string name, const std::string& path);
CheckResult check_database_file(const std::string& path);
// Each executor that a worker of this folder's owner would not run; one good check when there is none.
CheckResults check_executors(const std::string& data_dir);

}  // namespace dash::app
