// The login of an SSH session: the agent, key files, a key as text, a password, prompts.
#pragma once
#include "core/net/ssh/ssh_state.hpp"

namespace dash::net {

// Errors as SshSession::open().
Result<void> log_in(const SshSession::State& state, const SshOptions& options);

}  // namespace dash::net
