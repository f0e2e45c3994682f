// What Ctrl-C means for a command that runs to its end: say what was and was not written, leave no
// half-written file, exit 130. The signal itself only wakes a watching thread, which waits for a InterruptBlocker to
// end before it ends the process. State of the process, since signals are.
#pragma once
#include <functional>
#include <string>

namespace dash::cmd {

// Once, before the command runs. `is_json`: the error document goes to stdout too.
void watch_interrupts(bool is_json);

// What is true if the process ends now, e.g. "nothing was written". Thread-safe.
void set_interrupt_message(std::string message);

// An interruption waits while one lives: for the moments of writing a file.
class InterruptBlocker {
 public:
  InterruptBlocker();
  ~InterruptBlocker();
  InterruptBlocker(const InterruptBlocker&) = delete;
  InterruptBlocker& operator=(const InterruptBlocker&) = delete;
};

// `undo` is called if an interruption ends the process while this lives: to give the terminal its echo back.
class OnInterrupt {
 public:
  explicit OnInterrupt(std::function<void()> undo);
  ~OnInterrupt();
  OnInterrupt(const OnInterrupt&) = delete;
  OnInterrupt& operator=(const OnInterrupt&) = delete;
};

}  // namespace dash::cmd
