#include "core/agent/dashboard/job_secrets.hpp"

#include "core/agent/dashboard/agent_trail.hpp"
#include "core/agent/dashboard/audience.hpp"
#include "core/agent/dashboard/job_rows.hpp"
#include "core/agent/protocol/sealed_reply.hpp"
#include "core/base/text.hpp"

namespace dash::agent {
namespace {

const std::string kAttestedOnlyKey = "dashboard_secrets_require_attested";

OrderedJson release_details(const SecretSource& source, const AgentJob& job, const std::string& ref) {
  return {{"job_id", job.id}, {source.ref_name, ref}, {"source", "config"}};
}

}  // namespace

const SecretSource* JobSecrets::source_of(const AgentJob& job) const {
  auto found = sources_.find(job.job_type);
  return found == sources_.end() ? nullptr : &found->second;
}

Result<OrderedJson> JobSecrets::release(const Agent& agent, const std::string& job_id,
                                        const SecretRequest& request) {
  bool is_attested_only = TRY(deps_.settings.flag(kAttestedOnlyKey, false));
  std::optional<OrderedJson> sealed;
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    auto job = TRY(own_running_job(tx, agent, job_id));
    const auto* source = source_of(job);
    if (!source) return not_its_job();
    if (is_attested_only)
      return fail(Code::forbidden, "secrets of the dashboard are released to attested agents alone ({})",
                  kAttestedOnlyKey);
    TRY(source->check(tx, agent, job, request.ref));
    TRY(read_reply_key(request.reply_key));
    auto is_first = 1 == TRY(tx.exec(R"(INSERT INTO agent_job_secrets (job_id, ref, at) VALUES ($1, $2, $3)
                                        ON CONFLICT DO NOTHING)",
                                     {job.id, request.ref, to_micros(deps_.clock.now())}));
    auto details = release_details(*source, job, request.ref);
    if (is_first)
      sealed = TRY(release_in(tx, agent, job, request));
    else
      details["refused"] = "released before";
    return record(tx, deps_.audit, agent, source->audit_action, request.ref, std::move(details));
  }));
  if (sealed) return OrderedJson{{"sealed", *std::move(sealed)}};
  return fail(Code::conflict, "this secret was released for the job before; it is released once");
}

Result<OrderedJson> JobSecrets::release_in(db::Transaction& tx, const Agent& agent, const AgentJob& job,
                                           const SecretRequest& request) {
  auto key = TRY(read_reply_key(request.reply_key));
  auto secret = TRY(source_of(job)->read(tx, job, request.ref));
  auto audience = TRY(read_audience(tx, deps_.config)).origin;
  return seal_reply(secret, key, {agent.id, audience, job.id, request.ref});
}

SecretSource share_secret_source(Deps deps) {
  SecretSource source{"agent.share_secret", "share", {}, {}};
  source.check = [deps](db::Transaction& tx, const Agent& agent, const AgentJob& job,
                        const std::string& ref) -> Result<void> {
    std::string configured(trim(TRY(deps.config.get(tx, "storage_agent_id")).value_or("")));
    std::string share(trim(TRY(deps.config.get(tx, "storage_agent_share")).value_or("")));
    bool is_configured =
        (configured == agent.id || configured == agent.name) && string_member(job.summary, "share") == share;
    if (!is_configured)
      return fail(Code::conflict,
                  "the job is for another agent or share than the one that is configured now");
    if (ref == share) return {};
    return fail(Code::conflict, "the job is for another share than the one whose password was asked for");
  };
  source.read = [deps](db::Transaction& tx, const AgentJob&, const std::string&) -> Result<Secret> {
    Secret password(TRY(deps.config.get(tx, "storage_agent_password")).value_or(""));
    if (!password.empty()) return password;
    return fail(Code::conflict,
                "the dashboard holds no password for this share; set it on the storage page, or remove "
                "dashboard_secret from the agent's share");
  };
  return source;
}

}  // namespace dash::agent
