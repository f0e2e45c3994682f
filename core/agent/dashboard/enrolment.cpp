#include "core/agent/dashboard/enrolment.hpp"

#include <algorithm>

#include "core/agent/dashboard/agent_rows.hpp"
#include "core/agent/dashboard/agent_trail.hpp"
#include "core/agent/dashboard/agents.hpp"
#include "core/agent/dashboard/dashboard_key.hpp"
#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"
#include "core/identity/login_throttle.hpp"

namespace dash::agent {
namespace {

constexpr std::int64_t kDefaultPerAddress = 10, kDefaultGlobal = 200, kDefaultWindowMinutes = 15;
constexpr std::int64_t kMaxWindowMinutes = 24 * 60;

std::string code_hash(const Secret& code) { return crypto::to_hex(crypto::sha256(trim(code.expose()))); }

Result<void> check_public_key(std::string_view public_key) {
  auto bytes = crypto::from_base64(public_key);
  if (bytes && bytes->size() == 32) return {};
  return fail(Code::invalid, "public_key is not the base64 of an Ed25519 public key of 32 bytes");
}

}  // namespace

Result<Enrolment::Limits> Enrolment::limits() {
  auto& settings = deps_.settings;
  auto minutes = std::clamp<std::int64_t>(
      TRY(settings.integer("agent_enroll_window_minutes", kDefaultWindowMinutes)), 1, kMaxWindowMinutes);
  auto limit = [&](std::string kind, std::int64_t max) {
    return identity::AttemptLimit{std::move(kind), std::max<std::int64_t>(max, 1),
                                  std::chrono::minutes(minutes)};
  };
  auto per_address = TRY(settings.integer("agent_enroll_max_per_ip", kDefaultPerAddress));
  auto global = TRY(settings.integer("agent_enroll_max_global", kDefaultGlobal));
  return Limits{TRY(settings.flag("agent_throttle_enabled", true)), limit("agent.enrol", per_address),
                limit("agent.enrol.all", global)};
}

Result<void> Enrolment::check(db::Transaction& tx, const Limits& limits, const std::string& address) {
  if (!limits.is_on) return {};
  TRY(failures_.check(tx, limits.per_address, identity::throttle_network(address)));
  return failures_.check(tx, limits.global, "");
}

Result<void> Enrolment::count(db::Transaction& tx, const Limits& limits, const std::string& address) {
  if (!limits.is_on) return {};
  TRY(failures_.count(tx, limits.per_address, identity::throttle_network(address)));
  return failures_.count(tx, limits.global, "");
}

Result<void> Enrolment::admit(const std::string& address) {
  if (!TRY(are_agents_enabled(deps_.settings))) return fail(Code::not_found, "Not Found");
  auto limits = TRY(this->limits());
  return deps_.sql.read([&](db::Transaction& tx) { return check(tx, limits, address); });
}

Result<EnrolReply> Enrolment::enrol(const EnrolRequest& request, const std::string& address,
                                    const std::string& origin) {
  if (!TRY(are_agents_enabled(deps_.settings))) return fail(Code::not_found, "Not Found");
  TRY(check_public_key(request.public_key));
  auto limits = TRY(this->limits());
  std::optional<EnrolReply> reply;
  // A failed body would undo the count, so a bad code is a value here.
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(check(tx, limits, address));
    reply = TRY(enrol_in(tx, request, address, origin));
    return reply ? Result<void>() : count(tx, limits, address);
  }));
  if (reply) return *std::move(reply);
  return fail(
      Code::invalid,
      "the enrolment code is wrong, was used before or has expired; ask an administrator for a new one");
}

Result<std::optional<EnrolReply>> Enrolment::enrol_in(db::Transaction& tx, const EnrolRequest& request,
                                                      const std::string& address, const std::string& origin) {
  auto now = deps_.clock.now();
  auto agent = TRY(select_agent_by_code(tx, code_hash(request.code)));
  bool is_good = agent && !agent->revoked_at && agent->enroll_expires_at && *agent->enroll_expires_at > now;
  if (!is_good) return std::optional<EnrolReply>();
  TRY(tx.exec(
      R"(UPDATE agents
                 SET public_key = $2, agent_version = $3, policy_hash = $4, code_hash = '',
                     code_expires_at = NULL, enrolled_at = $5, last_seen_at = $5, last_seen_ip = $6,
                     copied_at = NULL, copied_ips = ''
                 WHERE id = $1)",
      {agent->id, request.public_key, request.agent_version, request.policy_hash, to_micros(now), address}));
  EnrolReply reply;
  reply.agent_id = agent->id, reply.name = agent->name, reply.site = agent->site;
  reply.audience = TRY(pin_audience(tx, deps_.config, origin));
  reply.dashboard_public_key = crypto::to_base64(TRY(dashboard_key(tx, deps_.config)).public_key);
  agent->last_seen_ip = address;
  TRY(record(tx, deps_.audit, *agent, "agent.enroll", agent->name,
             {{"agent_version", request.agent_version}, {"policy_hash", request.policy_hash}}));
  return std::optional(std::move(reply));
}

}  // namespace dash::agent
