// A program that must end in order: it is interrupted (SIGINT) instead of killed, also when this process dies,
// and nothing that it started outlives it. Between the two stands a process of ours (hidden command `dashctl
// supervise`). It passes the program's output on and keeps reading it when nobody listens any more, because a
// program that is killed by a closed pipe (SIGPIPE) saves nothing.
#pragma once
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/net/process/child.hpp"

namespace dash::net {

inline constexpr std::string_view kSupervise = "supervise";

// How a supervised program is stopped.
struct Supervision {
  std::chrono::seconds stop_timeout{600};
  // Is written when everything has ended: "exit 1", or "signal 9". Empty: none.
  std::string end_file{};
};

// Wraps `command`. SIGTERM to the result, and the death of the thread that started it, interrupt the program
// and its group; what still runs after the timeout is killed. The result ends as the program ended, after
// every process that the program started.
Command supervised(const Command& command, const Supervision& supervision,
                   const std::string& launcher = "/proc/self/exe");

// Runs the hidden command. `args` are the words after "supervise". Returns the program's exit status, or dies
// by the signal that ended it.
int supervise(const std::vector<std::string>& args);

}  // namespace dash::net
