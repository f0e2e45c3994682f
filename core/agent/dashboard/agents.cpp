#include "core/agent/dashboard/agents.hpp"

#include <algorithm>

#include "core/agent/dashboard/agent_rows.hpp"
#include "core/agent/dashboard/job_types.hpp"
#include "core/base/fields.hpp"
#include "core/base/shape.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/hash.hpp"

namespace dash::agent {
namespace {

constexpr std::size_t kMaxNameChars = 64, kMaxSiteBytes = 128, kMaxDescriptionBytes = 1000;

Result<void> check_agent_name(std::string_view name) {
  auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  bool is_good =
      !name.empty() && name.size() <= kMaxNameChars && is_letter(name.front()) &&
      std::ranges::all_of(name, [&](char c) { return is_letter(c) || c == '.' || c == '_' || c == '-'; });
  if (is_good) return {};
  return fail(Code::invalid,
              "the name '{}' is refused: a letter or digit first, then letters, digits, '.', '_' and '-', {} "
              "characters at most",
              escape_controls(name, ""), kMaxNameChars);
}

Result<std::optional<std::string>> label(const Json& body, std::string_view member, std::size_t max) {
  auto text = TRY(text_field(body, member));
  if (!text) return text;
  *text = std::string(trim(*text));
  if (text->size() > max || has_control_character(*text) || !is_utf8(*text))
    return fail(Code::invalid, "'{}' must be one line of at most {} bytes", member, max);
  return text;
}

Result<std::optional<std::vector<std::string>>> granted_types(const Json& body) {
  auto it = body.find("allowed_job_types");
  if (it == body.end() || it->is_null()) return std::optional<std::vector<std::string>>();
  bool is_list = it->is_array() && std::ranges::all_of(*it, [](const Json& t) { return t.is_string(); });
  if (!is_list) return fail(Code::validation, "'allowed_job_types' must be a list of texts");
  std::vector<std::string> out;
  for (const auto& type : *it) {
    auto name = type.get<std::string>();
    if (std::ranges::count(kJobTypes, name) == 0)
      return fail(Code::invalid, "there is no job type '{}'; an agent can be granted {}",
                  escape_controls(name, ""), fmt::join(kJobTypes, ", "));
    if (std::ranges::count(out, name) == 0) out.push_back(std::move(name));
  }
  return std::optional(std::move(out));
}

Failure agent_not_found(std::string_view name) {
  return fail(Code::not_found, "Agent '{}' not found.", escape_controls(name, ""));
}

Result<Agent> known_agent(db::Transaction& tx, const std::string& id_or_name) {
  auto agent = TRY(select_agent_named(tx, id_or_name));
  if (!agent) return agent_not_found(id_or_name);
  return *std::move(agent);
}

OrderedJson agent_details(const Agent& agent) {
  return {{"agent_id", agent.id},
          {"site", agent.site},
          {"description", agent.description},
          {"allowed_job_types", agent.allowed_job_types}};
}

Result<Agent> new_agent(const Principal& principal, const Json& body, Time now) {
  TRY(require_object(body));
  Agent agent;
  agent.id = crypto::uuid4();
  auto name = TRY(label(body, "name", 255));
  if (!name) return missing_member("name");
  agent.name = *std::move(name);
  TRY(check_agent_name(agent.name));
  auto change = TRY(read_agent_change(body));
  agent.site = change.site.value_or("");
  agent.description = change.description.value_or("");
  agent.allowed_job_types = change.allowed_job_types.value_or(std::vector<std::string>());
  agent.created_at = now;
  agent.created_by = principal.username;
  return agent;
}

// Ends what the agent was to do, because it may no longer. Returns how many jobs that were.
Result<std::int64_t> clear_jobs(db::Transaction& tx, const Agent& agent, Time now) {
  auto failed =
      TRY(tx.exec(R"(UPDATE agent_jobs
                               SET state = 'failed', error = $2, ended_at = $3
                               WHERE agent_id = $1 AND state = 'running')",
                  {agent.id, "the agent was revoked; it may still carry the job out", to_micros(now)}));
  auto cancelled = TRY(tx.exec(R"(UPDATE agent_jobs
                                  SET state = 'cancelled', payload = NULL, ended_at = $2
                                  WHERE agent_id = $1 AND state = 'queued')",
                               {agent.id, to_micros(now)}));
  return failed + cancelled;
}

Result<void> cancel_ungranted(db::Transaction& tx, const Agent& agent, Time now) {
  for (auto type : kJobTypes) {
    if (agent.is_granted(type)) continue;
    TRY(tx.exec(R"(UPDATE agent_jobs
                   SET state = 'cancelled', payload = NULL, ended_at = $3
                   WHERE agent_id = $1 AND job_type = $2 AND state = 'queued')",
                {agent.id, std::string(type), to_micros(now)}));
  }
  return {};
}

}  // namespace

OrderedJson to_json(const IssuedCode& issued, Time now) {
  auto out = to_json(issued.agent, now);
  out["enrollment_code"] = issued.code.expose();
  auto url = issued.audience.empty() ? "https://DASHBOARD" : issued.audience;
  out["install"] = {{"dashboard_url", issued.audience},
                    {"command", fmt::format("dashctl agent enroll --url {} --code-file CODE_FILE --state-dir "
                                            "/var/lib/dashboard-agent",
                                            url)}};
  return out;
}

OrderedJson to_json(const RevokeResult& result) {
  return {{"detail", fmt::format("Agent '{}' was revoked.", result.agent.name)},
          {"jobs_cleared", result.jobs_cleared}};
}

Result<AgentChange> read_agent_change(const Json& body) {
  TRY(require_object(body));
  AgentChange change;
  change.site = TRY(label(body, "site", kMaxSiteBytes));
  change.description = TRY(label(body, "description", kMaxDescriptionBytes));
  change.allowed_job_types = TRY(granted_types(body));
  return change;
}

Result<IssuedCode> Agents::issue_code(db::Transaction& tx, Agent agent, const std::string& origin) {
  IssuedCode issued;
  issued.code = Secret(std::string(kCodePrefix) + crypto::random_hex(32));
  agent.enroll_expires_at = deps_.clock.now() + kCodeLifetime;
  TRY(update_agent_code(tx, agent.id, crypto::to_hex(crypto::sha256(issued.code.expose())),
                        *agent.enroll_expires_at));
  issued.audience = TRY(pin_audience(tx, deps_.config, origin));
  issued.agent = std::move(agent);
  return issued;
}

Result<IssuedCode> Agents::create(const Principal& principal, const Json& body, const std::string& origin) {
  TRY(require_admin(principal));
  if (!TRY(are_agents_enabled(deps_.settings)))
    return fail(Code::conflict, "remote agents are switched off; set remote_agents_enabled first");
  auto agent = TRY(new_agent(principal, body, deps_.clock.now()));
  return db::write<IssuedCode>(deps_.sql, [&](db::Transaction& tx) -> Result<IssuedCode> {
    if (!TRY(insert_agent(tx, agent)))
      return fail(Code::conflict, "an agent '{}' exists already; choose another name", agent.name);
    TRY(deps_.audit.append(tx,
                           audit::make_event(principal, "agent.create", agent.name, agent_details(agent))));
    return issue_code(tx, agent, origin);
  });
}

Result<std::vector<Agent>> Agents::list(const Principal& principal) {
  TRY(require_admin(principal));
  return db::read<std::vector<Agent>>(deps_.sql, [](db::Transaction& tx) { return select_agents(tx); });
}

Result<Agent> Agents::get(const Principal& principal, const std::string& id_or_name) {
  TRY(require_admin(principal));
  return db::read<Agent>(deps_.sql, [&](db::Transaction& tx) { return known_agent(tx, id_or_name); });
}

Result<Agent> Agents::change(const Principal& principal, const std::string& id_or_name,
                             const AgentChange& change) {
  TRY(require_admin(principal));
  return db::write<Agent>(deps_.sql, [&](db::Transaction& tx) -> Result<Agent> {
    auto agent = TRY(known_agent(tx, id_or_name));
    agent.site = change.site.value_or(agent.site);
    agent.description = change.description.value_or(agent.description);
    agent.allowed_job_types = change.allowed_job_types.value_or(agent.allowed_job_types);
    TRY(update_agent(tx, agent));
    TRY(cancel_ungranted(tx, agent, deps_.clock.now()));
    TRY(deps_.audit.append(tx,
                           audit::make_event(principal, "agent.update", agent.name, agent_details(agent))));
    return agent;
  });
}

Result<RevokeResult> Agents::revoke(const Principal& principal, const std::string& id_or_name) {
  TRY(require_admin(principal));
  auto result = TRY(db::write<RevokeResult>(deps_.sql, [&](db::Transaction& tx) -> Result<RevokeResult> {
    auto agent = TRY(known_agent(tx, id_or_name));
    auto now = deps_.clock.now();
    auto cleared = TRY(clear_jobs(tx, agent, now));
    TRY(tx.exec(R"(UPDATE agents
                   SET public_key = '', code_hash = '', revoked_at = coalesce(revoked_at, $2)
                   WHERE id = $1)",
                {agent.id, to_micros(now)}));
    TRY(deps_.audit.append(tx, audit::make_event(principal, "agent.revoke", agent.name,
                                                 {{"agent_id", agent.id}, {"jobs_cleared", cleared}})));
    return RevokeResult{TRY(known_agent(tx, agent.id)), cleared};
  }));
  waiting_->notify(result.agent.id);
  return result;
}

Result<void> Agents::remove(const Principal& principal, const std::string& id_or_name) {
  TRY(require_admin(principal));
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    auto agent = TRY(known_agent(tx, id_or_name));
    if (!agent.revoked_at)
      return fail(Code::conflict, "the agent '{}' is not revoked; revoke it before you remove its record",
                  agent.name);
    TRY(tx.exec("DELETE FROM agent_jobs WHERE agent_id = $1", {agent.id}));
    TRY(tx.exec("DELETE FROM agent_nonces WHERE agent_id = $1", {agent.id}));
    TRY(tx.exec("DELETE FROM agents WHERE id = $1", {agent.id}));
    TRY(deps_.audit.append(tx,
                           audit::make_event(principal, "agent.remove", agent.name, agent_details(agent))));
    return {};
  });
}

Result<IssuedCode> Agents::reissue_code(const Principal& principal, const std::string& id_or_name,
                                        const std::string& origin) {
  TRY(require_admin(principal));
  return db::write<IssuedCode>(deps_.sql, [&](db::Transaction& tx) -> Result<IssuedCode> {
    auto agent = TRY(known_agent(tx, id_or_name));
    if (agent.revoked_at)
      return fail(Code::conflict, "the agent '{}' was revoked; remove its record and add it again",
                  agent.name);
    TRY(deps_.audit.append(
        tx, audit::make_event(principal, "agent.reissue_code", agent.name, {{"agent_id", agent.id}})));
    return issue_code(tx, std::move(agent), origin);
  });
}

Result<Audience> Agents::audience(const Principal& principal) {
  TRY(require_admin(principal));
  return db::read<Audience>(deps_.sql, [&](db::Transaction& tx) { return read_audience(tx, deps_.config); });
}

Result<Audience> Agents::reset_audience(const Principal& principal) {
  TRY(require_admin(principal));
  return db::write<Audience>(deps_.sql, [&](db::Transaction& tx) -> Result<Audience> {
    auto before = TRY(read_audience(tx, deps_.config));
    if (TRY(agent::reset_audience(tx, deps_.config, principal.username)))
      TRY(deps_.audit.append(tx, audit::make_event(principal, "agent.audience_reset", before.origin,
                                                   {{"audience", before.origin}})));
    return read_audience(tx, deps_.config);
  });
}

}  // namespace dash::agent
