// What is wrong with an instance and what to do about it: `dashctl doctor`. Never makes an instance that is
// not there; one that is there is opened as every command opens it.
#pragma once
#include <string>
#include <vector>

#include "core/app/services.hpp"
#include "core/base/json.hpp"
#include "core/net/http/api_client.hpp"

namespace dash::app {

enum class Health { good, warning, failed };

struct Check {
  std::string name;  // "data_dir", "signing_key", "database", …, "storage obj_cloud1"
  Health health = Health::good;
  std::string message;
  Code code = Code::invalid;  // of a failed one
};
using Checks = std::vector<Check>;

// Files, keys, executors, database, settings, accounts, audit log, gate, storage backends and clock, in the
// order in which they depend on each other; nothing follows what the rest stands on when that has failed.
Checks examine(const Options& options);
// What anybody may ask of an instance through its API: that it answers, what /readyz reports, its clock.
Checks examine(net::HttpClient& http, const net::ApiAddress& address, const Clock& clock);
// Bundles in `folder` that hold live credentials long after the cutover.
Check leftovers(const std::string& folder);

// {ok, checks: [{check, state: "good" | "warning" | "failed", message}]}
OrderedJson to_json(const Checks& checks);
// The first failure, whose code gives the exit code.
Result<void> verdict(const Checks& checks);

}  // namespace dash::app
