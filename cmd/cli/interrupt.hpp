// What Ctrl-C means for a command that runs to its end: say what was and was not written, leave no
// half-written file, exit 130. The signal itself only wakes a watching thread, which waits for a Shield to
// end before it ends the process. State of the process, since signals are.
#pragma once
#include <functional>
#include <string>

namespace dash::cmd {

// Once, before the command runs. `is_json`: the error document goes to stdout too.
void watch_interrupts(bool is_json);

// What is true if the process ends now, e.g. "nothing was written". Thread-safe.
void if_interrupted(std::string say);

// An interruption waits while one lives: for the moments of writing a file.
class Shield {
 public:
  Shield();
  ~Shield();
  Shield(const Shield&) = delete;
  Shield& operator=(const Shield&) = delete;
};

// `undo` is called if an interruption ends the process while this lives: to give the terminal its echo back.
class UndoAtInterrupt {
 public:
  explicit UndoAtInterrupt(std::function<void()> undo);
  ~UndoAtInterrupt();
  UndoAtInterrupt(const UndoAtInterrupt&) = delete;
  UndoAtInterrupt& operator=(const UndoAtInterrupt&) = delete;
};

}  // namespace dash::cmd
