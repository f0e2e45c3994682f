#include "core/net/process/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include "core/base/fd.hpp"
#include "core/base/file.hpp"
#include "core/net/process/descendants.hpp"

namespace dash::net {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int kCannotSupervise = 126;
constexpr int kPollMillis = 500;

// Passes one stream of the program on. What the server does not take any more is dropped.
class Relay {
 public:
  bool open(int target) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    source_ = Fd(ends[0]), sink_ = Fd(ends[1]);
    target_ = target;
    ::fcntl(source_.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(target_, F_SETFL, O_NONBLOCK);
    return true;
  }
  int program_end() const { return sink_.get(); }
  void close_program_end() { sink_ = Fd(); }
  bool is_open() const { return source_.get() >= 0; }
  // Reads only when all that was read is written.
  pollfd entry() const {
    if (!pending_.empty()) return {target_, POLLOUT, 0};
    return {source_.get(), POLLIN, 0};
  }
  void advance() {
    if (pending_.empty() && is_open()) {
      auto n = ::read(source_.get(), buffer_.data(), buffer_.size());
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) source_ = Fd();
      if (n > 0 && !is_broken_) pending_ = {buffer_.data(), static_cast<std::size_t>(n)};
    }
    if (pending_.empty()) return;
    auto n = ::write(target_, pending_.data(), pending_.size());
    if (n > 0) pending_.remove_prefix(static_cast<std::size_t>(n));
    if (n >= 0 || errno == EAGAIN || errno == EINTR) return;
    is_broken_ = true;
    pending_ = {};
  }
  bool has_pending() const { return !pending_.empty(); }

 private:
  Fd source_, sink_;
  int target_ = -1;
  bool is_broken_ = false;
  std::array<char, 16384> buffer_;
  std::string_view pending_;
};

class Supervisor {
 public:
  explicit Supervisor(const SupervisorOptions& options) : options_(options) {}

  bool open() {
    sigset_t watched;
    ::sigemptyset(&watched);
    for (int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::sigaddset(&watched, number);
    ::sigprocmask(SIG_BLOCK, &watched, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    signals_ = Fd(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
    return signals_.get() >= 0 && out_.open(1) && err_.open(2) &&
           ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_PDEATHSIG, SIGTERM) == 0;
  }

  bool start(const std::function<int()>& run) {
    auto self = ::getpid();
    program_ = ::fork();
    if (program_ < 0) return false;
    if (program_ == 0) ::_exit(become_program(self, run));
    ::setpgid(program_, program_);
    out_.close_program_end();
    err_.close_program_end();
    // Only the program holds its input, its environment and what else the server gave it.
    ::close(0);
    ::close(3);
    for (char** variable = environ; *variable; ++variable) ::explicit_bzero(*variable, ::strlen(*variable));
    return true;
  }

  void serve() {
    if (::getppid() != options_.parent) stop_program();
    while (program_ > 0) {
      std::array<pollfd, 3> fds{{{signals_.get(), POLLIN, 0}, out_.entry(), err_.entry()}};
      ::poll(fds.data(), fds.size(), kPollMillis);
      if (fds[0].revents != 0) on_signals();
      if (fds[1].revents != 0) out_.advance();
      if (fds[2].revents != 0) err_.advance();
      if (kill_at_ && Steady::now() >= *kill_at_) kill_descendants(::getpid());
      reap();
    }
    kill_descendants(::getpid());
    reap();
    pass_rest_on();
    note_end();
  }

  // Ends this process as the program ended.
  int finish() const {
    if (!WIFSIGNALED(status_)) return WEXITSTATUS(status_);
    int number = WTERMSIG(status_);
    ::signal(number, SIG_DFL);
    sigset_t mask;
    ::sigemptyset(&mask);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::kill(::getpid(), number);
    return 128 + number;
  }

 private:
  int become_program(pid_t supervisor, const std::function<int()>& run) {
    ::setpgid(0, 0);
    ::dup2(out_.program_end(), 1);
    ::dup2(err_.program_end(), 2);
    sigset_t mask;
    ::sigemptyset(&mask);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != supervisor) return kCannotSupervise;
    return run();
  }
  void on_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo != SIGCHLD) stop_program();
    }
  }
  // Only once: a program that is interrupted twice may end without saving what it did.
  void stop_program() {
    if (kill_at_) return;
    kill_at_ = Steady::now() + options_.grace;
    ::kill(-program_, options_.stop_signal);
  }
  void note_end() const {
    if (options_.end_file.empty()) return;
    auto text = WIFSIGNALED(status_) ? fmt::format("signal {}", WTERMSIG(status_))
                                     : fmt::format("exit {}", WEXITSTATUS(status_));
    std::ignore = write_file(options_.end_file, text, 0600);
  }
  void reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != program_) continue;
      status_ = status;
      program_ = 0;
    }
  }
  // All writers are dead, so what is left is in the pipes.
  void pass_rest_on() {
    for (auto* relay : {&out_, &err_}) {
      while (relay->is_open() || relay->has_pending()) {
        auto entry = relay->entry();
        bool is_stuck = ::poll(&entry, 1, kPollMillis * 10) <= 0;
        if (is_stuck) break;
        relay->advance();
      }
    }
  }

  const SupervisorOptions options_;
  Fd signals_;
  Relay out_, err_;
  pid_t program_ = 0;
  int status_ = 0;
  std::optional<Steady::time_point> kill_at_;
};

}  // namespace

int supervise(const SupervisorOptions& options, const std::function<int()>& run) {
  Supervisor supervisor(options);
  if (!supervisor.open() || !supervisor.start(run)) return kCannotSupervise;
  supervisor.serve();
  return supervisor.finish();
}

}  // namespace dash::net
