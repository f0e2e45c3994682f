// The agent's own policy: policy.yaml, in the format of the deployed agents. It decides what this agent does,
// whatever the dashboard grants, and cannot be changed by a job.
//   targets: [{cidr: 10.0.0.0/24 | fqdn: web.example, ports: [22]}]     required, one at least; no ports: any
//   deny: [10.0.0.128/25]
//   job_types: [agent_storage, agent_automation]                        none: nothing is done
//   limits: {max_hosts: 50, max_concurrency: 5}                         of one run
//   storage: {enabled: true, shares: [{name: lab, write: true}]}
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/agent/protocol/automation_job.hpp"
#include "core/agent/protocol/storage_job.hpp"
#include "core/automation/ip_address.hpp"

namespace dash::agent {

struct TargetRule {
  std::optional<automation::IpNetwork> network{};
  std::string name{};        // of a rule by name, lower case, without the last dot
  bool is_literal = false;   // names one address
  std::vector<int> ports{};  // empty: any
};

struct ShareRule {
  std::string name;
  bool can_write = false;
};

struct Policy {
  std::vector<TargetRule> targets{};
  std::vector<automation::IpNetwork> deny{};
  std::vector<std::string> job_types{};  // as written, unknown ones too
  std::optional<std::int64_t> max_hosts{}, max_concurrency{};
  bool has_storage = false;  // its block is there and enabled
  std::vector<ShareRule> shares{};
  std::vector<std::string> unused{};  // blocks that deployed agents know and this one does not use
  std::string hash{};                 // SHA-256 of the file, hex

  bool has_job_type(std::string_view type) const;
};

// Code::usage names file and line of what is no policy.
Result<Policy> read_policy(std::string_view text, std::string_view file);
// Reads the file. Code::usage also when it cannot be read.
Result<Policy> load_policy(const std::string& path);

// The judgements: Code::policy_denied with a sentence that names what is missing.
Result<void> judge_job_type(const Policy& policy, std::string_view type);
Result<void> judge_share(const Policy& policy, std::string_view share, StorageOp op);
// Judges how many hosts a run has.
Result<void> judge_host_count(const Policy& policy, std::size_t hosts);
// Returns what to connect to: the address that was judged, or the written one for winrm, which connects by name
// (then each of its addresses must be allowed). This machine and its links are denied unless `targets` names that
// literal address; a connection `local` counts as 127.0.0.1. May wait for DNS.
Result<std::string> judge_host(const Policy& policy, const AutomationHost& host);

}  // namespace dash::agent
