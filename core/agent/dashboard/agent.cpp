#include "core/agent/dashboard/agent.hpp"

#include <algorithm>

#include "core/agent/dashboard/job_types.hpp"

namespace dash::agent {
namespace {

OrderedJson time_or_null(const std::optional<Time>& at) {
  return at ? OrderedJson(format_iso(*at)) : OrderedJson(nullptr);
}

OrderedJson copy_warning(const Agent& agent, Time now) {
  if (!agent.copied_at || now - *agent.copied_at > kCopyWarning) return nullptr;
  return fmt::format(
      "Two addresses ({}) signed for this agent within a minute, at {}. Its identity may have been copied: "
      "revoke it and add another one, unless its address really changed.",
      agent.copied_ips, format_iso(*agent.copied_at));
}

}  // namespace

std::string_view word(AgentStatus status) {
  switch (status) {
    case AgentStatus::enrolling:
      return "enrolling";
    case AgentStatus::online:
      return "online";
    case AgentStatus::offline:
      return "offline";
    case AgentStatus::revoked:
      break;
  }
  return "revoked";
}

bool Agent::is_granted(std::string_view job_type) const {
  return std::ranges::find(allowed_job_types, job_type) != allowed_job_types.end();
}

bool Agent::has_feature(std::string_view feature) const {
  return std::ranges::find(features, feature) != features.end();
}

bool is_same_identity(const Agent& now, const Agent& authenticated) {
  return now.is_active() && now.public_key == authenticated.public_key;
}

AgentStatus status_of(const Agent& agent, Time now) {
  if (agent.revoked_at) return AgentStatus::revoked;
  if (agent.public_key.empty()) return AgentStatus::enrolling;
  bool is_heard = agent.last_seen_at && now - *agent.last_seen_at <= kOnlineWindow;
  return is_heard ? AgentStatus::online : AgentStatus::offline;
}

OrderedJson to_json(const Agent& agent, Time now) {
  return {{"id", agent.id},
          {"name", agent.name},
          {"site", agent.site},
          {"description", agent.description},
          {"status", word(status_of(agent, now))},
          {"agent_version", agent.agent_version},
          {"policy_hash", agent.policy_hash},
          {"features", agent.features},
          {"job_types", kJobTypes},
          {"allowed_job_types", agent.allowed_job_types},
          {"reported_job_types", agent.reported_job_types},
          {"running_jobs", agent.running_jobs},
          {"enrolled_at", time_or_null(agent.enrolled_at)},
          {"last_seen_at", time_or_null(agent.last_seen_at)},
          {"last_seen_ip", agent.last_seen_ip},
          {"enroll_expires_at", time_or_null(agent.enroll_expires_at)},
          {"revoked_at", time_or_null(agent.revoked_at)},
          {"created_at", format_iso(agent.created_at)},
          {"created_by", agent.created_by},
          {"auth_mode", "key"},
          {"warning", copy_warning(agent, now)}};
}

Result<void> check_ready(const Agent& agent, std::string_view job_type, Time now) {
  switch (status_of(agent, now)) {
    case AgentStatus::revoked:
      return fail(Code::upstream, "the agent '{}' was revoked; enrol another one and configure that",
                  agent.name);
    case AgentStatus::enrolling:
      return fail(Code::upstream, "the agent '{}' has not enrolled yet; start it with its enrolment code",
                  agent.name);
    case AgentStatus::offline:
      return fail(Code::upstream,
                  "the agent '{}' is offline: it was not heard for more than {} seconds; see that it runs "
                  "and reaches this dashboard",
                  agent.name, kOnlineWindow.count());
    case AgentStatus::online:
      break;
  }
  if (agent.is_granted(job_type)) return {};
  return fail(
      Code::upstream,
      "the agent '{}' is not granted the job type {}; an administrator grants it: dashctl agent grant "
      "{} {}",
      agent.name, job_type, agent.name, job_type);
}

}  // namespace dash::agent
