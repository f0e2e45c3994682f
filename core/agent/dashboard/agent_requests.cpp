#include "core/agent/dashboard/agent_requests.hpp"

#include <algorithm>

#include "core/agent/dashboard/agent_changes.hpp"
#include "core/agent/dashboard/agent_rows.hpp"
#include "core/agent/dashboard/agent_trail.hpp"
#include "core/agent/dashboard/audience.hpp"
#include "core/agent/protocol/request_signature.hpp"
#include "core/base/log.hpp"
#include "core/crypto/hash.hpp"
#include "core/identity/login_throttle.hpp"

namespace dash::agent {
namespace {

constexpr std::int64_t kDefaultRequestsPerMinute = 240;
constexpr std::chrono::minutes kRateWindow{1};
// Two addresses within it: one identity in two places.
constexpr std::chrono::minutes kCopyWindow{1};

bool is_nonce(std::string_view nonce) {
  return !nonce.empty() && nonce.size() <= kMaxNonceChars &&
         std::ranges::all_of(nonce, [](char c) { return c > 0x20 && c < 0x7f; });
}

identity::AttemptLimit failure_limit(std::int64_t max) { return {"agent.signature", max, kRateWindow}; }

Failure must_be_signed() {
  return fail(Code::unauthenticated, "This request must be signed by an enrolled agent.");
}

Failure too_many_requests(std::chrono::microseconds wait) {
  auto seconds = std::max(std::chrono::seconds(1), std::chrono::ceil<std::chrono::seconds>(wait));
  return Failure(
      throttled(seconds, "Too many requests of this agent. Try again in {} seconds.", seconds.count()));
}

}  // namespace

Result<bool> are_agents_enabled(config::Settings& settings) {
  return settings.flag("remote_agents_enabled", false);
}

// Returns nullopt where requests are not limited.
Result<std::optional<std::int64_t>> AgentRequests::max_requests() {
  if (!TRY(deps_.settings.flag("agent_throttle_enabled", true))) return std::optional<std::int64_t>();
  auto max = TRY(deps_.settings.integer("agent_max_requests_per_minute", kDefaultRequestsPerMinute));
  return std::optional<std::int64_t>(std::max<std::int64_t>(max, 1));
}

// Counts the requests whose signature held: each of them left a nonce.
Result<void> AgentRequests::check_agent_rate(db::Transaction& tx, const std::string& agent_id,
                                             std::int64_t max) {
  auto now = deps_.clock.now();
  auto rows = TRY(tx.query("SELECT COUNT(*), MIN(at) FROM agent_nonces WHERE agent_id = $1 AND at > $2",
                           {agent_id, to_micros(now - kRateWindow)}));
  if (rows[0].integer(0) < max) return {};
  return too_many_requests(std::chrono::duration_cast<std::chrono::microseconds>(
      from_micros(rows[0].integer(1)) + kRateWindow - now));
}

Result<void> AgentRequests::check_address(db::Transaction& tx, const std::string& address, std::int64_t max) {
  return failures_.check(tx, failure_limit(max), identity::throttle_network(address));
}

// Counts a request whose signature did not hold for its address. One beyond the limit is not counted, so that
// nobody can fill the table.
Result<Failure> AgentRequests::refuse(const SignedHead& head) {
  auto max = TRY(max_requests());
  bool is_signed = !head.agent_id.empty() && !head.signature.empty();
  auto refusal = is_signed ? not_accepted() : must_be_signed();
  if (!max) return refusal;
  auto counted = failures_.check_and_count(failure_limit(*max), identity::throttle_network(head.address));
  if (!counted && counted.error().code != Code::throttled) return Failure(counted.error());
  return refusal;
}

Result<Agent> AgentRequests::admit(const SignedHead& head) {
  if (!TRY(are_agents_enabled(deps_.settings))) return fail(Code::not_found, "Not Found");
  auto max = TRY(max_requests());
  std::optional<Agent> agent;
  TRY(deps_.sql.read([&](db::Transaction& tx) -> Result<void> {
    agent = TRY(select_agent(tx, head.agent_id));
    // An address from which the agent was heard before is not locked by its neighbours' bad requests.
    bool is_known_address = agent && agent->is_active() && agent->last_seen_ip == head.address;
    if (max && !is_known_address) TRY(check_address(tx, head.address, *max));
    return {};
  }));
  bool is_plausible = agent && agent->is_active() && !head.signature.empty() && is_nonce(head.nonce) &&
                      is_fresh(head.timestamp, deps_.clock.now());
  if (!is_plausible) return TRY(refuse(head));
  if (max) TRY(deps_.sql.read([&](db::Transaction& tx) { return check_agent_rate(tx, agent->id, *max); }));
  return *std::move(agent);
}

Result<Agent> AgentRequests::accept(const SignedHead& head, const Agent& admitted, std::string_view body) {
  auto max = TRY(max_requests());
  auto audience = TRY(
      db::read<Audience>(deps_.sql, [&](db::Transaction& tx) { return read_audience(tx, deps_.config); }));
  RequestToSign request{audience.origin, admitted.id, head.method, head.path, head.nonce, head.timestamp};
  bool holds =
      is_fresh(head.timestamp, deps_.clock.now()) &&
      is_signed_by(admitted.public_key, request, crypto::to_hex(crypto::sha256(body)), head.signature);
  if (!holds) return TRY(refuse(head));
  bool is_new = false;
  std::optional<Agent> agent;
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    is_new = false;
    agent = TRY(select_agent(tx, admitted.id));
    // Revoked, or enrolled anew with another key, since the header section was read.
    if (!agent || !is_same_identity(*agent, admitted)) return {};
    if (max) TRY(check_agent_rate(tx, agent->id, *max));
    is_new = 1 == TRY(tx.exec(R"(INSERT INTO agent_nonces (agent_id, nonce, at) VALUES ($1, $2, $3)
                                 ON CONFLICT DO NOTHING)",
                              {agent->id, head.nonce, to_micros(deps_.clock.now())}));
    return is_new ? record_request(tx, head, *agent) : Result<void>();
  }));
  if (!is_new) return TRY(refuse(head));
  agent->last_seen_ip = head.address;
  agent->last_seen_at = deps_.clock.now();
  return *std::move(agent);
}

Result<void> AgentRequests::record_request(db::Transaction& tx, const SignedHead& head, const Agent& agent) {
  auto now = deps_.clock.now();
  bool is_elsewhere = agent.last_seen_at && !agent.last_seen_ip.empty() &&
                      agent.last_seen_ip != head.address && now - *agent.last_seen_at <= kCopyWindow;
  if (is_elsewhere) {
    TRY(tx.exec("UPDATE agents SET copied_at = $2, copied_ips = $3 WHERE id = $1",
                {agent.id, to_micros(now), fmt::format("{} and {}", agent.last_seen_ip, head.address)}));
    if (!agent.copied_at || now - *agent.copied_at > kCopyWindow)
      log::warning("agent.two_addresses",
                   {{"agent", agent.name}, {"address", head.address}, {"other_address", agent.last_seen_ip}});
  }
  if (status_of(agent, now) == AgentStatus::offline) TRY(add_agent_change(tx));
  TRY(tx.exec("UPDATE agents SET last_seen_at = $2, last_seen_ip = $3 WHERE id = $1",
              {agent.id, to_micros(now), head.address}));
  return {};
}

Result<void> AgentRequests::store_report(const Agent& agent, const AgentReport& report) {
  auto version = report.agent_version.value_or(agent.agent_version);
  auto types = report.job_types.value_or(agent.reported_job_types);
  if (version == agent.agent_version && types == agent.reported_job_types &&
      report.features == agent.features)
    return {};
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(R"(UPDATE agents
                   SET agent_version = $2, reported_job_types = $3, features = $4
                   WHERE id = $1)",
                {agent.id, version, dump_json(Json(types)), dump_json(Json(report.features))}));
    return {};
  });
}

}  // namespace dash::agent
