// One command over an SSH session.
#pragma once
#include <string>

#include "core/net/ssh/ssh_state.hpp"

namespace dash::net {

// Result and errors as SshSession::run().
Result<ProcessResult> run_remote(const SshSession::State& state, const std::string& command,
                                 Steady::time_point due, std::size_t max_output);

}  // namespace dash::net
