// The share of a remote agent as a store: one folder of bare file names, without parts, state or hub. What it
// does not have is refused by name.
#pragma once
#include <memory>

#include "core/config/encrypted_store.hpp"
#include "core/storage/store/agent/share.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::agent {

inline constexpr std::string_view kBackend = "agent_local";

ShareSettings read_share_settings(const config::Values& values);
std::unique_ptr<ObjectStore> make_agent_store(const ShareSettings& settings,
                                              std::unique_ptr<AgentShare> share);
// The store of a process that has no queue for agents: every operation fails with Code::upstream, naming the
// agent. app opens the other one.
Result<std::unique_ptr<ObjectStore>> open_agent_share(const config::Values& values);

}  // namespace dash::storage::agent
