// Ctrl-C during a command: print what was and was not written, leave no half-written file, exit 130. The
// signal handler only wakes a watching thread, which waits for every InterruptBlocker to end before it ends
// the process. The state is the process's, since signals are.
#pragma once
#include <functional>
#include <string>

namespace dash::cmd {

// Starts watching; called once, before the command runs. With `is_json` the error document is printed to
// stdout too.
void watch_interrupts(bool is_json);

// Sets what is true if the process ends now, e.g. "nothing was written". Thread-safe.
void set_interrupt_message(std::string message);

// An interruption waits while one exists: for the moments of writing a file.
class InterruptBlocker {
 public:
  InterruptBlocker();
  ~InterruptBlocker();
  InterruptBlocker(const InterruptBlocker&) = delete;
  InterruptBlocker& operator=(const InterruptBlocker&) = delete;
};

// `undo` is called if an interruption ends the process during its life, for example to restore the terminal's
// echo.
class OnInterrupt {
 public:
  explicit OnInterrupt(std::function<void()> undo);
  ~OnInterrupt();
  OnInterrupt(const OnInterrupt&) = delete;
  OnInterrupt& operator=(const OnInterrupt&) = delete;
};

}  // namespace dash::cmd
