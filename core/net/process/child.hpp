// Child processes without a shell: posix_spawn (a fork of a large process costs ten times as much), a process
// group of its own, an environment and file descriptors that are named and never inherited, a deadline over
// pidfd, and bounded output. The policy engine and job executors use it. exec_child.hpp narrows what a child
// may do.
#pragma once
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/stream.hpp"
#include "core/net/process/find_program.hpp"  // for argv[0]

namespace dash::net {

struct Command {
  std::vector<std::string> argv;  // argv[0] is a path: no search
  std::vector<std::string> env;   // NAME=value; nothing else is set
  std::string cwd;                // empty: that of this process
  // Its file descriptor 3 is a pipe too, for what it reports beside its output (RunOptions::report).
  bool has_report = false;
};

struct ExitStatus {
  int code = -1;   // exit status, when it exited
  int signal = 0;  // otherwise the signal that killed it
  bool ok() const { return signal == 0 && code == 0; }
  std::string text() const;  // "exit status 2", "signal 9"
};

// How communicate() exchanges data with its child.
struct RunOptions {
  std::string_view input;                  // its stdin
  Sink* out = nullptr;                     // takes its stdout as it arrives; null: dropped
  Sink* err = nullptr;                     // takes its stderr as it arrives; null: dropped
  Sink* report = nullptr;                  // takes what it writes to file descriptor 3; null: dropped
  std::chrono::milliseconds timeout{0};    // zero: none
  std::function<bool()> should_stop;       // called several times a second; true: SIGTERM, then SIGKILL
  std::chrono::milliseconds grace{5'000};  // between those two
};

// A running child. Its destructor kills the whole group and reaps it. One thread at a time.
class Child {
 public:
  Child() = default;
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  // Starts it with pipes as stdin, stdout and stderr. Code::unreachable when the program cannot be started.
  static Result<Child> start(const Command& command);

  int pid() const { return pid_; }
  bool running();
  // Returns how it ended; code -1 and signal 0 while it runs.
  const ExitStatus& exit_status() const { return exit_; }
  // Writes the input and reads the output until it has exited. Code::timeout past the deadline,
  // Code::interrupted when stopped, or the error of a sink; the child is dead in all three cases.
  Result<ExitStatus> communicate(const RunOptions& options);
  // For a child that serves many requests: send() writes all of `bytes` to its stdin, receive() fills `into`
  // from its stdout. Code::timeout past `due`, Code::unreachable when it closed its end.
  Result<void> send(std::string_view bytes, std::chrono::steady_clock::time_point due);
  Result<void> receive(std::span<char> into, std::chrono::steady_clock::time_point due);
  // Returns what its stderr holds now, without waiting.
  std::string drain_stderr(std::size_t max_bytes);
  // Drops what its stdout and stderr hold now, so that a child whose output is not read never blocks.
  void discard_output();
  void close_stdin();
  // Waits at most `timeout` for its end.
  bool wait(std::chrono::milliseconds timeout);
  void kill();  // kills the group at once, and reaps

 private:
  void reap(int options);
  void close_all();
  int pid_ = -1, pidfd_ = -1;
  int in_ = -1, out_ = -1, err_ = -1, report_ = -1;
  bool reaped_ = false;
  ExitStatus exit_;
};

struct ProcessResult {
  ExitStatus exit;
  std::string out, err;
};
// Calls start() and communicate(). Output above `max_output` a stream is Code::too_large and ends the child.
// `should_stop` is that of RunOptions, without a grace.
Result<ProcessResult> run_child(const Command& command, std::string_view input,
                                std::chrono::milliseconds deadline, std::size_t max_output,
                                const std::function<bool()>& should_stop = {});

}  // namespace dash::net
