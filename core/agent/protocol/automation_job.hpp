// The payload and the result of an automation job. The asset is named by its digest and fetched by a request of
// its own; a host's secret, and the run's secret variables, are released one by one and never stand here.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.hpp"

namespace dash::agent {

inline constexpr std::string_view kAutomationJobType = "agent_automation";
// What an agent gives as connection_ref to get the run's secret variables, as the text of a JSON object. No host
// can have this name.
inline constexpr std::string_view kSecretVariablesRef = "secret_vars:";
inline constexpr std::int64_t kMaxAutomationSeconds = 7 * 24 * 3600;

struct AutomationHost {
  std::string name;                // unique in the job; the connection_ref of its secret
  std::string address;             // as it was written: a DNS name or an IP address
  int port = 0;                    // 1 to 65535; 0 for a connection `local`
  std::string user;                // blank: the account of the agent
  std::string connection = "ssh";  // ssh, winrm or local
  std::string host_key{};          // ssh: "<type> <base64>"; winrm: PEM certificates, or empty
  Json variables = Json::object();
  std::vector<std::string> groups{};
  bool has_secret = false;
};

struct AutomationJob {
  std::string asset;                           // a bare file name
  std::string type;                            // playbook, script, powershell, rpm or deb
  std::optional<std::string> project{};        // the asset is a compose file of this project
  std::uint64_t asset_bytes = 0;               //
  std::string asset_digest{};                  // "p8:<64 hex digits>" (core/storage/store/digest.hpp)
  bool is_check = false;                       //
  std::int64_t forks = 5;                      // from 1
  std::optional<std::int64_t> max_failures{};  // hosts that may fail before the run is ended
  std::int64_t timeout_seconds = 3600;         // 1 to kMaxAutomationSeconds
  Json extra_vars = Json::object();
  bool has_secret_vars = false;
  std::vector<AutomationHost> hosts{};  // one at least
};

// {asset, type, asset_bytes, asset_digest, check, forks, timeout_seconds, extra_vars, has_secret_vars, hosts:
// [{name, address, port, user, connection, host_key, variables, groups, has_secret}]}, and `project` and
// `max_failures` where there are any.
Json to_json(const AutomationJob& job);
// Code::invalid names the member and what it must be. Members that it does not know are refused: one could
// narrow what the run may do.
Result<AutomationJob> read_automation_job(const Json& payload);

struct AutomationHostResult {
  std::string name;
  std::string outcome;  // ok, changed, skipped, failed, unreachable; "" when the run did not come to it
  std::string error{};
};

struct AutomationResult {
  std::vector<AutomationHostResult> hosts{};
  std::optional<int> exit_status{}, signal{};
  std::string reason{};  // exited, cancelled, stopped, timed_out or too_many_failures
};

// {hosts: [{name, outcome, error}], exit_status, signal, reason, audit_mode: false}
Json to_json(const AutomationResult& result);
// Reads what an agent sent: every text is bounded. Code::invalid.
Result<AutomationResult> read_automation_result(const Json& result);

}  // namespace dash::agent
