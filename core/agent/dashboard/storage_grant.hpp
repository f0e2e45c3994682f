// Whether a storage job may be queued for the configured agent: what the dashboard can know before it asks. The
// agent's policy is the agent's to judge.
#pragma once
#include "core/agent/dashboard/agent.hpp"
#include "core/agent/dashboard/deps.hpp"
#include "core/storage/store/agent/share.hpp"

namespace dash::agent {

// The settings with a clean subpath, and the agent that they name.
struct GrantedShare {
  Agent agent;
  storage::agent::ShareSettings settings;
};

// Checks, in this order: agent and share are configured, both names and the subpath, remote agents are on, the
// agent exists, is not revoked, has enrolled, is online, is granted the job type, its version, and its version
// again while the dashboard has the share's password. Code::upstream, with a sentence that names what is missing;
// nothing was queued.
Result<GrantedShare> check_storage_grant(const Deps& deps, const storage::agent::ShareSettings& share);

}  // namespace dash::agent
