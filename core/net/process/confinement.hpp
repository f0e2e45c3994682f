// What the program of a run may read, write and use: somebody's playbook or module is a program on our server.
// It reads /usr, what programs need of /etc and what is named; it writes its work folder, /dev/shm and its
// terminal; it opens TCP connections, signals no other process, and has no capability. A supervisor ends all
// processes of the run (supervisor.hpp). What remains open: docs/operations.md.
#pragma once
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "core/net/process/child.hpp"

namespace dash::net {

struct Confinement {
  std::vector<std::string> read;   // files and folders that it may read and execute, beside those above
  std::vector<std::string> work;   // folders in which it may do anything
  std::uint64_t memory_bytes = 0;  // of private memory, for each of its processes; 0: no limit
  int stop_signal = SIGTERM;       // what the program gets when it is to stop, also when this process died
  std::chrono::seconds stop_grace{20};  // from that signal to the end of all its processes
  bool is_confined = true;              // false: only supervised (automation_unconfined)
  std::optional<int> max_abi{};         // treats the kernel's Landlock as that old (tests)
};

// Returns whether this machine can confine a run. Code::conflict says why not, and names the setting
// automation_unconfined.
Result<void> can_confine(std::optional<int> max_abi = {});

// Wraps `command` to run confined, through `launcher` (this binary). Start it from a thread that lives as long
// as the run: the death of that thread stops the program. Its RunOptions::grace is `stop_grace`; the stop
// signal that the supervisor gets, SIGTERM, becomes `stop_signal`.
Command confined(const Command& command, const Confinement& confinement,
                 const std::string& launcher = "/proc/self/exe");

}  // namespace dash::net
