#include "core/agent/dashboard/storage_grant.hpp"

#include "core/agent/dashboard/job_grant.hpp"
#include "core/agent/protocol/documents.hpp"
#include "core/agent/protocol/storage_job.hpp"
#include "core/agent/protocol/version.hpp"
#include "core/base/utf8.hpp"

namespace dash::agent {
namespace {

// A setting that no job can carry: the operator must correct it, not the caller.
template <class T>
Result<T> as_setting(std::string_view key, Result<T> checked) {
  if (checked) return checked;
  return fail(Code::upstream, "{}: {}", key, checked.error().message);
}

std::string version_words(const Agent& agent) {
  return agent.agent_version.empty()
             ? "reports no version"
             : fmt::format("reports the version '{}'", escape_controls(agent.agent_version, ""));
}

Result<void> check_versions(const Agent& agent, bool has_password) {
  if (!is_version_at_least(agent.agent_version, kStorageVersion))
    return fail(Code::upstream,
                "the agent '{}' {}; storage needs 2.5.0 or later. Update the agent; nothing was queued",
                agent.name, version_words(agent));
  if (has_password && !is_version_at_least(agent.agent_version, kShareSecretVersion))
    return fail(
        Code::upstream,
        "the agent '{}' {}; a share whose password the dashboard holds needs 2.7.0 or later. Update the "
        "agent, or clear storage_agent_password and keep the password on the agent; nothing was queued",
        agent.name, version_words(agent));
  return {};
}

}  // namespace

Result<GrantedShare> check_storage_grant(const Deps& deps, const storage::agent::ShareSettings& share) {
  if (share.agent.empty())
    return fail(Code::upstream, "no agent is configured for the share; set storage_agent_id");
  if (share.share.empty())
    return fail(Code::upstream, "no share is configured for the agent; set storage_agent_share");
  TRY(as_setting("storage_agent_share", check_share(share.share)));
  auto subpath = TRY(as_setting("storage_agent_subpath", clean_subpath(share.subpath)));
  auto agent = TRY(find_granted_agent(deps, share.agent, kStorageJobType));
  TRY(check_versions(agent, share.has_password));
  return GrantedShare{std::move(agent), {share.agent, share.share, std::move(subpath), share.has_password}};
}

}  // namespace dash::agent
