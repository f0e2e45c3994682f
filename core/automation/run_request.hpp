// The body of a run (POST /api/config-mgmt/run, run-bulk and compose-deploy). Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/secret.hpp"

namespace dash::automation {

inline constexpr std::int64_t kMaxForks = 100;

struct RunRequest {
  std::string asset;
  std::string asset_backend;  // blank: the active one
  std::string workgroup;      // folded; blank: none
  std::string cloud;          // canonical; blank: none
  std::string runner;         // blank: that of the settings
  Json host_entries;          // an array
  bool is_check = false;
  Json extra_vars = Json::object();
  Json secret_vars = Json::object();  // name → text
  std::optional<std::int64_t> forks, max_failures;
  std::string project;  // of compose-deploy
  // Members that only an executable can carry out, such as a run through an agent; by name.
  std::vector<std::string> foreign_members;
};

enum class RunKind { one, bulk, compose };

// Code::validation for a member of a wrong type, a missing one, and a short secret; nothing else is checked.
Result<RunRequest> read_run_request(const Json& body, RunKind kind);
// Checks names of secret variables: those of check_variables(), and the passwords of another user's rights.
Result<void> check_secret_names(const Json& secret_vars);
// The rest, Code::invalid: names of variables, numbers, the project.
Result<void> check_run_request(const RunRequest& request, RunKind kind);

}  // namespace dash::automation
