// Who sends a request of an agent. admit() decides by the header section alone, before a byte of the body is read;
// accept() checks the signature over the body, the throttle and the nonce, and records that the agent was heard.
// Both fail with
//   Code::unauthenticated  one text for every signature that does not hold, another for none
//   Code::throttled        with retry_after: too many requests of the agent, or too many bad ones of the address;
//                          stores no nonce
//   Code::not_found        remote_agents_enabled is off
// A deployed agent ends for good when it is answered 401, so nothing else may be that.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/agent/dashboard/agent.hpp"
#include "core/agent/dashboard/deps.hpp"
#include "core/identity/throttle.hpp"

namespace dash::agent {

// A nonce is kept longer than a request with it can be fresh.
inline constexpr std::chrono::seconds kNonceLifetime{240};

// What the header section says.
struct SignedHead {
  std::string method, path;  // path as sent, without the query
  std::string agent_id, timestamp, nonce, signature;
  std::string address;  // of the client
};

// What a lease says of its agent.
struct AgentReport {
  std::optional<std::string> agent_version;
  std::optional<std::vector<std::string>> job_types;
  std::vector<std::string> features;
};

class AgentRequests {
 public:
  explicit AgentRequests(Deps deps) : deps_(deps), failures_(deps.sql, deps.clock) {}

  Result<Agent> admit(const SignedHead& head);
  // `admitted` is what admit() returned. Returns the agent as it is now.
  Result<Agent> accept(const SignedHead& head, const Agent& admitted, std::string_view body);
  // Stores what a lease says, where it differs from what is known.
  Result<void> store_report(const Agent& agent, const AgentReport& report);

 private:
  Result<std::optional<std::int64_t>> max_requests();
  Result<void> check_agent_rate(db::Transaction& tx, const std::string& agent_id, std::int64_t max);
  Result<void> check_address(db::Transaction& tx, const std::string& address, std::int64_t max);
  Result<Failure> refuse(const SignedHead& head);
  Result<void> record_request(db::Transaction& tx, const SignedHead& head, const Agent& agent);

  Deps deps_;
  identity::Throttle failures_;
};

}  // namespace dash::agent
