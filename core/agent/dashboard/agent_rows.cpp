#include "core/agent/dashboard/agent_rows.hpp"

namespace dash::agent {
namespace {

constexpr std::string_view kSelectAgents =
    R"(SELECT id, name, site, description, public_key, agent_version, policy_hash, allowed_job_types,
              reported_job_types, features, created_at, created_by, code_hash, code_expires_at, enrolled_at,
              revoked_at, last_seen_at, last_seen_ip, copied_at, copied_ips,
              (SELECT COUNT(*) FROM agent_jobs WHERE state = 'running' AND agent_id = agents.id)
       FROM agents )";

std::optional<Time> optional_time(const db::Row& row, std::size_t i) {
  if (row.is_null(i)) return std::nullopt;
  return from_micros(row.integer(i));
}

Result<std::vector<std::string>> text_array(const std::string& json) {
  return TRY(parse_json(json)).get<std::vector<std::string>>();
}

Result<Agent> read_agent_row(const db::Row& row) {
  Agent agent;
  agent.id = row.text(0), agent.name = row.text(1), agent.site = row.text(2);
  agent.description = row.text(3), agent.public_key = row.text(4);
  agent.agent_version = row.text(5), agent.policy_hash = row.text(6);
  agent.allowed_job_types = TRY(text_array(row.text(7)));
  agent.reported_job_types = TRY(text_array(row.text(8)));
  agent.features = TRY(text_array(row.text(9)));
  agent.created_at = from_micros(row.integer(10)), agent.created_by = row.text(11);
  if (!row.text(12).empty()) agent.enroll_expires_at = optional_time(row, 13);
  agent.enrolled_at = optional_time(row, 14), agent.revoked_at = optional_time(row, 15);
  agent.last_seen_at = optional_time(row, 16), agent.last_seen_ip = row.text(17);
  agent.copied_at = optional_time(row, 18), agent.copied_ips = row.text(19);
  agent.running_jobs = row.integer(20);
  return agent;
}

Result<std::optional<Agent>> first_agent(db::Transaction& tx, std::string_view where,
                                         const std::string& value) {
  auto rows = TRY(tx.query(fmt::format("{}{}", kSelectAgents, where), {value}));
  if (rows.empty()) return std::optional<Agent>();
  return std::optional<Agent>(TRY(read_agent_row(rows[0])));
}

}  // namespace

Result<std::vector<Agent>> select_agents(db::Transaction& tx) {
  std::vector<Agent> out;
  for (const auto& row : TRY(tx.query(fmt::format("{}ORDER BY name", kSelectAgents))))
    out.push_back(TRY(read_agent_row(row)));
  return out;
}

Result<std::optional<Agent>> select_agent(db::Transaction& tx, const std::string& id) {
  return first_agent(tx, "WHERE id = $1", id);
}

Result<std::optional<Agent>> select_agent_named(db::Transaction& tx, const std::string& id_or_name) {
  auto agent = TRY(select_agent(tx, id_or_name));
  if (agent) return agent;
  return first_agent(tx, "WHERE name = $1", id_or_name);
}

Result<std::optional<Agent>> select_agent_by_code(db::Transaction& tx, const std::string& code_hash) {
  return first_agent(tx, "WHERE code_hash = $1", code_hash);
}

Result<bool> insert_agent(db::Transaction& tx, const Agent& agent) {
  auto made =
      TRY(tx.exec(R"(INSERT INTO agents (id, name, site, description, allowed_job_types, created_at,
                                                 created_by)
                             VALUES ($1, $2, $3, $4, $5, $6, $7)
                             ON CONFLICT DO NOTHING)",
                  {agent.id, agent.name, agent.site, agent.description,
                   dump_json(Json(agent.allowed_job_types)), to_micros(agent.created_at), agent.created_by}));
  return made == 1;
}

Result<void> update_agent(db::Transaction& tx, const Agent& agent) {
  TRY(tx.exec("UPDATE agents SET site = $2, description = $3, allowed_job_types = $4 WHERE id = $1",
              {agent.id, agent.site, agent.description, dump_json(Json(agent.allowed_job_types))}));
  return {};
}

Result<void> update_agent_code(db::Transaction& tx, const std::string& id, const std::string& code_hash,
                               Time expires_at) {
  TRY(tx.exec("UPDATE agents SET code_hash = $2, code_expires_at = $3 WHERE id = $1",
              {id, code_hash, to_micros(expires_at)}));
  return {};
}

}  // namespace dash::agent
