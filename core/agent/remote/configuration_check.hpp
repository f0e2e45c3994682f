// What `dashctl agent check` finds in the policy and the shares file, and what `run` logs of them when it starts.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/agent/remote/identity.hpp"
#include "core/agent/remote/policy.hpp"
#include "core/agent/remote/settings.hpp"
#include "core/agent/remote/shares.hpp"
#include "core/base/json.hpp"

namespace dash::agent {

struct ConfigurationReport {
  Policy policy;
  Shares shares;
  std::vector<std::string> warnings;
};

// Reads both files. `identity`, when there is one, opens the sealed passwords. Code::usage names file and line.
Result<ConfigurationReport> check_configuration(const Settings& settings,
                                                const std::optional<Identity>& identity);
// {policy_hash, mode, job_types, targets, shares: [{name, write, configured}], warnings}: no path, no password.
OrderedJson to_json(const ConfigurationReport& report, const Settings& settings);

}  // namespace dash::agent
