// Child processes without a shell: posix_spawn (a fork of a large process is ten times dearer), a process
// group of its own, an environment and file descriptors that are named and never inherited, a deadline over
// pidfd, output that cannot fill the memory. Used by the policy engine and by job executors;
// net/exec_child.hpp narrows what a child may do.
#pragma once
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace dash::net {

struct Command {
  std::vector<std::string> argv;  // argv[0] is a path: no search
  std::vector<std::string> env;   // NAME=value; nothing else is set
  std::string cwd;                // empty: ours
};

struct ExitStatus {
  int code = -1;   // exit status, when it exited
  int signal = 0;  // otherwise what killed it
  bool ok() const { return signal == 0 && code == 0; }
  std::string text() const;  // "exit status 2", "signal 9"
};

// How run() talks with its child.
struct RunOptions {
  std::string_view input;                                // its stdin
  std::function<void(std::string_view)> on_out, on_err;  // pieces as they come; empty: dropped
  std::chrono::milliseconds timeout{0};                  // zero: none
  std::function<bool()> should_stop;       // asked several times a second; true: SIGTERM, then SIGKILL
  std::chrono::milliseconds grace{5'000};  // between those two
};

// A running child. Destroying it kills the whole group and reaps it. One thread at a time.
class Child {
 public:
  Child() = default;
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  // Its stdin, stdout and stderr are pipes to us. Code::unreachable when the program cannot be started.
  static Result<Child> start(const Command& command);

  int pid() const { return pid_; }
  bool running();
  // Feeds and reads until it has exited. Code::timeout past the deadline, Code::interrupted when stopped; it
  // is dead then.
  Result<ExitStatus> communicate(const RunOptions& options);
  // For a child that is asked many times: all of `bytes` to its stdin, exactly `into` from its stdout. Past
  // `due` Code::timeout, when it closed its end Code::unreachable.
  Result<void> send(std::string_view bytes, std::chrono::steady_clock::time_point due);
  Result<void> receive(std::span<char> into, std::chrono::steady_clock::time_point due);
  // What lies in its stderr now, without waiting.
  std::string drain_stderr(std::size_t max_bytes);
  // Drops what lies in its stdout and stderr now, so that a child whose words nobody reads never waits for a
  // reader.
  void discard_output();
  void close_stdin();
  // Waits at most `timeout` for its end.
  bool wait(std::chrono::milliseconds timeout);
  void kill();  // the group, at once, and reap

 private:
  void reap(int options);
  void close_all();
  int pid_ = -1, pidfd_ = -1;
  int in_ = -1, out_ = -1, err_ = -1;
  bool reaped_ = false;
  ExitStatus exit_;
};

struct ProcessResult {
  ExitStatus exit;
  std::string out, err;
};
// start() and communicate() in one; output above `max_output` a stream is Code::too_large and ends the child.
// `should_stop`: as in RunOptions, without a grace.
Result<ProcessResult> run_child(const Command& command, std::string_view input,
                                std::chrono::milliseconds deadline, std::size_t max_output,
                                const std::function<bool()>& should_stop = {});

// The program's path: itself when it holds a slash, else searched on PATH. Code::not_found names it.
Result<std::string> find_program(const std::string& name);

}  // namespace dash::net
