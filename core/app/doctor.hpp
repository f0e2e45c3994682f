// Diagnoses an instance: what is wrong and what to do about it (`dashctl doctor`). It never creates an
// instance; an existing one is opened as every command opens it.
#pragma once
#include <string>
#include <vector>

#include "core/app/application.hpp"
#include "core/base/json.hpp"
#include "core/net/http/api_client.hpp"

namespace dash::app {

enum class CheckState { good, warning, failed };

struct CheckResult {
  std::string name;  // "data_dir", "signing_key", "database", …, "storage obj_cloud1"
  CheckState state = CheckState::good;
  std::string message;
  Code code = Code::invalid;  // of a failed one
};
using CheckResults = std::vector<CheckResult>;

// Checks files, keys, executors, database, settings, accounts, audit log, gate, storage backends and clock,
// in the order in which they depend on each other. A failure that the rest depends on ends the run.
CheckResults diagnose(const Options& options);
// Checks what an instance shows through its API without a sign-in: that it answers, /readyz, its clock.
CheckResults diagnose(net::HttpClient& http, const net::ApiAddress& address, const Clock& clock);
// Finds bundles in `folder` that hold live credentials long after the cutover.
CheckResult check_bundles(const std::string& folder);

// {ok, checks: [{check, state: "good" | "warning" | "failed", message}]}
OrderedJson to_json(const CheckResults& checks);
// Returns the first failure; its code determines the exit code.
Result<void> first_failure(const CheckResults& checks);

}  // namespace dash::app
