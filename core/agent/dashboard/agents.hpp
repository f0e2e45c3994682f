// The agents of this dashboard, as its operators manage them. Everything here is for admins; every change is
// audited in its own transaction. An agent is named by its id or its name. Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/agent/dashboard/agent.hpp"
#include "core/agent/dashboard/audience.hpp"
#include "core/agent/dashboard/deps.hpp"
#include "core/agent/dashboard/waiting_leases.hpp"
#include "core/base/principal.hpp"
#include "core/base/secret.hpp"

namespace dash::agent {

inline constexpr std::string_view kCodePrefix = "agte_";
inline constexpr std::chrono::minutes kCodeLifetime{15};

// An agent and the code with which it may enrol once. The code is shown once.
struct IssuedCode {
  Agent agent;
  Secret code;
  std::string audience;  // empty: pinned when the agent enrols
};
// to_json(agent) with enrollment_code and install {dashboard_url, command}.
OrderedJson to_json(const IssuedCode& issued, Time now);

struct AgentChange {
  std::optional<std::string> site, description;
  std::optional<std::vector<std::string>> allowed_job_types;  // all of them
};
// Reads {site, description, allowed_job_types}. Code::validation, or Code::invalid for a type that no agent has.
Result<AgentChange> read_agent_change(const Json& body);

struct RevokeResult {
  Agent agent;
  std::int64_t jobs_cleared = 0;
};
// {detail, jobs_cleared}
OrderedJson to_json(const RevokeResult& result);

class Agents {
 public:
  Agents(Deps deps, std::shared_ptr<WaitingLeases> waiting) : deps_(deps), waiting_(std::move(waiting)) {}

  // `body` is {name, site, description, allowed_job_types}; no type is granted but by the list. `origin` is what the
  // caller knows this dashboard by, "https://host:port", or empty. Code::conflict for a taken name, and while
  // remote_agents_enabled is off.
  Result<IssuedCode> create(const Principal& principal, const Json& body, const std::string& origin);
  Result<std::vector<Agent>> list(const Principal& principal);
  Result<Agent> get(const Principal& principal, const std::string& id_or_name);
  // A queued job whose type is no longer granted is cancelled.
  Result<Agent> change(const Principal& principal, const std::string& id_or_name, const AgentChange& change);
  // Clears the key and the code, fails the running job and cancels the queued ones.
  Result<RevokeResult> revoke(const Principal& principal, const std::string& id_or_name);
  // Removes the row. Code::conflict unless it was revoked.
  Result<void> remove(const Principal& principal, const std::string& id_or_name);
  // Replaces the code. The agent's key holds until the new code is used. Code::conflict for a revoked agent.
  Result<IssuedCode> reissue_code(const Principal& principal, const std::string& id_or_name,
                                  const std::string& origin);
  Result<Audience> audience(const Principal& principal);
  // Unpins the audience: every agent must enrol anew. Returns the audience as it is then.
  Result<Audience> reset_audience(const Principal& principal);

  const Clock& clock() const { return deps_.clock; }

 private:
  Result<IssuedCode> issue_code(db::Transaction& tx, Agent agent, const std::string& origin);
  Deps deps_;
  std::shared_ptr<WaitingLeases> waiting_;
};

}  // namespace dash::agent
