// The file share of a remote agent, on this side: its name and place, and the failure of every operation
// while no agent is signed in. Called by registry.cpp.
#pragma once
#include <memory>
#include <string_view>

#include "core/config/encrypted_store.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::agent {

// Every operation fails with Code::upstream, naming the agent.
Result<std::unique_ptr<ObjectStore>> open_agent_share(const config::Values& values);

}  // namespace dash::storage::agent
