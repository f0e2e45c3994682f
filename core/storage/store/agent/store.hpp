// The file share of a remote agent, as far as this side of it goes: names, place, and the answer that every
// operation gets while no agent is signed in. Called by registry.cpp.
#pragma once
#include <memory>
#include <string_view>

#include "core/config/encrypted_store.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::agent {

// Every operation is Code::upstream, naming the agent.
Result<std::unique_ptr<ObjectStore>> open_agent_share(const config::Values& values);

}  // namespace dash::storage::agent
