// What is wrong with an instance and what to do about it: `dashctl doctor`. Never makes an instance that is
// not there; one that is there is opened as every command opens it.
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

// Files, keys, executors, database, settings, accounts, audit log, gate, storage backends and clock, in the
// order in which they depend on each other; nothing follows what the rest stands on when that has failed.
CheckResults diagnose(const Options& options);
// What anybody may ask of an instance through its API: that it answers, what /readyz reports, its clock.
CheckResults diagnose(net::HttpClient& http, const net::ApiAddress& address, const Clock& clock);
// Bundles in `folder` that hold live credentials long after the cutover.
CheckResult check_bundles(const std::string& folder);

// {ok, checks: [{check, state: "good" | "warning" | "failed", message}]}
OrderedJson to_json(const CheckResults& checks);
// The first failure, whose code gives the exit code.
Result<void> first_failure(const CheckResults& checks);

}  // namespace dash::app
