// A remote agent as this dashboard knows it: who it is, what it may do, when it was last heard.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/json.hpp"

namespace dash::agent {

// An agent that was not heard for longer is offline. A waiting lease is answered within 25 s.
inline constexpr std::chrono::seconds kOnlineWindow{90};
// So long the list warns of an identity that two addresses used.
inline constexpr std::chrono::hours kCopyWarning{24};

enum class AgentStatus { enrolling, online, offline, revoked };
std::string_view word(AgentStatus status);

struct Agent {
  std::string id, name, site, description;
  std::string public_key;  // standard base64; empty until it enrols and once it is revoked
  std::string agent_version, policy_hash;
  std::vector<std::string> allowed_job_types;   // what it is granted; empty: nothing
  std::vector<std::string> reported_job_types;  // what it says that its own policy allows
  std::vector<std::string> features;            // what it says that it can (protocol/documents.hpp)
  Time created_at;
  std::string created_by;
  std::optional<Time> enroll_expires_at;  // of a code that is not yet used
  std::optional<Time> enrolled_at, revoked_at, last_seen_at;
  std::string last_seen_ip;
  std::optional<Time> copied_at;  // two addresses signed for it within a minute
  std::string copied_ips;         // these two, "a and b"
  std::int64_t running_jobs = 0;

  bool is_granted(std::string_view job_type) const;
  bool has_feature(std::string_view feature) const;
  // Returns whether its key may sign requests.
  bool is_active() const { return !revoked_at && !public_key.empty(); }
};

// Returns whether an agent that was authenticated before still is who it was: neither revoked nor enrolled anew.
bool is_same_identity(const Agent& now, const Agent& authenticated);
AgentStatus status_of(const Agent& agent, Time now);

// {id, name, site, description, status, agent_version, policy_hash, features, job_types, allowed_job_types,
//  reported_job_types, running_jobs, enrolled_at, last_seen_at, last_seen_ip, enroll_expires_at, revoked_at,
//  created_at, created_by, auth_mode, warning}
// `warning` is null or a sentence. Never the key or the code.
OrderedJson to_json(const Agent& agent, Time now);

// Checks that a job of the type may be queued for the agent now, in the order revoked, not enrolled, offline, not
// granted. Code::upstream, with a sentence that names the agent and says what to do.
Result<void> check_ready(const Agent& agent, std::string_view job_type, Time now);

}  // namespace dash::agent
