// The process between a server and the program of a run (`dashctl exec-child --supervised`). It passes the
// program's output on, so that the death of the server does not break the program's pipes; asks the program to
// stop when it is asked or when the server died; and leaves no process of the run behind, also none that made a
// session of its own.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

namespace dash::net {

struct SupervisorOptions {
  pid_t parent = 0;  // the server
  int stop_signal = 15;
  std::chrono::seconds grace{0};  // from the stop signal to the end of all
  std::string end_file{};         // is written when all have ended: "exit 1" or "signal 9"; empty: none
};

// Forks, calls `run` in the child, which executes the program or returns an exit code, and supervises it until
// it has ended. Ends this process as the program ended; returns an exit code only when it cannot begin.
int supervise(const SupervisorOptions& options, const std::function<int()>& run);

}  // namespace dash::net
