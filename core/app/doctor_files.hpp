// Checks the files of an instance: present, whole, and private. Used by `dashctl doctor`.
#pragma once
#include "core/app/doctor.hpp"

namespace dash::app {

CheckResult good(std::string name, std::string message);
CheckResult warning(std::string name, std::string message);
CheckResult failed(std::string name, Code code, std::string message);

// Returns the message, with the remedy, for a folder without an instance.
std::string no_instance_message(const std::string& folder);
CheckResult check_data_dir(const std::string& folder);
// Checks the file of a key. An empty `path` means not set, which is good.
CheckResult check_key_file(std::string name, const std::string& path);
CheckResult check_database_file(const std::string& path);
// Returns each executor that a worker of this folder's owner would refuse to run; one good check when there
// is none.
CheckResults check_executors(const std::string& data_dir);
// Returns each module that is not run, and whether the program is there that runs the others; nothing where
// there is no module.
CheckResults check_modules(const std::string& data_dir);

}  // namespace dash::app
