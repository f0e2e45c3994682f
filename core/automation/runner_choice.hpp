// Which program carries a run out: ansible in this process's worker, or an operator's executable.
#pragma once
#include <map>
#include <string>

#include "core/config/encrypted_store.hpp"
#include "core/jobs/executor.hpp"

namespace dash::automation {

inline constexpr std::string_view kLocalRunner = "local";

struct RunnerChoice {
  std::string name;        // "local", or the name of an executable
  std::string executable;  // its path; empty: ansible, on this machine
};

// The name that a run has: the one that it gives, else the cloud's (automation_runner_aws, …), else the
// setting automation_runner. `cloud` is canonical or blank.
std::string runner_name(const std::string& given, const std::string& cloud, const config::Values& values);
// Code::conflict, naming what to put where, when the runner is missing or is not safe to run. An operator's
// config-mgmt-run replaces the local one.
Result<RunnerChoice> choose_runner(const std::string& name, const jobs::Executors& executors);
// Returns key → why nobody here knows the runner, for each setting of a runner among `values`.
std::map<std::string, std::string> runner_warnings(const config::Values& values,
                                                   const jobs::Executors& executors);

}  // namespace dash::automation
