#include "core/net/process/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "core/net/process/descendants.hpp"

namespace dash::net {
namespace {

using Millis = std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

// Both ends of the pipes of stdin, stdout, stderr and, when asked for, file descriptor 3. Ends that are not
// taken out are closed.
struct Pipes {
  std::array<std::array<int, 2>, 4> fds{{{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}}};
  ~Pipes() {
    for (auto& pair : fds)
      for (auto& fd : pair) close_fd(fd);
  }
  bool open(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      if (::pipe2(fds[i].data(), O_CLOEXEC) != 0) return false;
    return true;
  }
  int release(int stream, int end) { return std::exchange(fds[size_t(stream)][size_t(end)], -1); }
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const auto& w : words) out.push_back(const_cast<char*>(w.c_str()));
  out.push_back(nullptr);
  return out;
}

// posix_spawn's two objects, with everything that a clean child needs.
struct SpawnAttributes {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnAttributes(const Pipes& pipes, const std::string& cwd) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&actions, pipes.fds[0][0], 0);
    ::posix_spawn_file_actions_adddup2(&actions, pipes.fds[1][1], 1);
    ::posix_spawn_file_actions_adddup2(&actions, pipes.fds[2][1], 2);
    bool has_report = pipes.fds[3][1] >= 0;
    if (has_report) ::posix_spawn_file_actions_adddup2(&actions, pipes.fds[3][1], 3);
    ::posix_spawn_file_actions_addclosefrom_np(&actions, has_report ? 4 : 3);
    if (!cwd.empty()) ::posix_spawn_file_actions_addchdir_np(&actions, cwd.c_str());
    sigset_t all, none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes,
                               POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnAttributes() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
};

// Moves what is available into `sink`. Closes `fd` at the end of the stream.
Result<void> forward(int& fd, Sink* sink) {
  std::array<char, 16384> buffer;
  auto n = ::read(fd, buffer.data(), buffer.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return {};
  if (n <= 0) close_fd(fd);
  if (n <= 0 || !sink) return {};
  return sink->write({buffer.data(), static_cast<std::size_t>(n)});
}

// Waits until `fd` can be read or written, or has ended.
Result<void> await(int fd, short events, Steady::time_point due) {
  for (;;) {
    auto left = std::chrono::ceil<Millis>(due - Steady::now()).count();
    if (left <= 0) return fail(Code::timeout, "the program did not answer in time");
    pollfd p{fd, events, 0};
    if (::poll(&p, 1, static_cast<int>(std::min<std::int64_t>(left, 60'000))) > 0) return {};
  }
}

}  // namespace

std::string ExitStatus::text() const {
  return signal != 0 ? fmt::format("signal {}", signal) : fmt::format("exit status {}", code);
}

Child::Child(Child&& other) noexcept { *this = std::move(other); }

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    kill();
    close_all();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::exchange(other.pidfd_, -1);
    in_ = std::exchange(other.in_, -1);
    out_ = std::exchange(other.out_, -1);
    err_ = std::exchange(other.err_, -1);
    report_ = std::exchange(other.report_, -1);
    reaped_ = other.reaped_;
    exit_ = other.exit_;
  }
  return *this;
}

Child::~Child() {
  kill();
  close_all();
}

void Child::close_all() {
  for (auto* fd : {&pidfd_, &in_, &out_, &err_, &report_}) close_fd(*fd);
}

void Child::close_stdin() { close_fd(in_); }

Result<Child> Child::start(const Command& command) {
  Pipes pipes;
  if (!pipes.open(command.has_report ? 4 : 3))
    return fail(Code::busy, "no file descriptor is left to start a program");
  SpawnAttributes spawn(pipes, command.cwd);
  auto argv = pointers(command.argv), env = pointers(command.env);
  pid_t pid = -1;
  int rc = ::posix_spawn(&pid, command.argv.at(0).c_str(), &spawn.actions, &spawn.attributes, argv.data(),
                         env.data());
  if (rc != 0)
    return fail(Code::unreachable, "cannot start {}: {}", command.argv.at(0), ::strerrordesc_np(rc));
  Child child;
  child.pid_ = pid;
  child.pidfd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  child.in_ = pipes.release(0, 1);
  child.out_ = pipes.release(1, 0);
  child.err_ = pipes.release(2, 0);
  if (command.has_report) child.report_ = pipes.release(3, 0);
  for (int fd : {child.in_, child.out_, child.err_, child.report_})
    if (fd >= 0) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  return child;
}

void Child::reap(int options) {
  siginfo_t what{};
  if (pid_ < 0 || reaped_) return;
  auto id = static_cast<id_t>(pid_);
  if (::waitid(P_PID, id, &what, WEXITED | WNOWAIT | options) != 0 || what.si_pid == 0) return;
  // Before it is reaped, its number, and so the group's, belongs to no other process: kill what it left
  // behind.
  ::kill(-pid_, SIGKILL);
  ::waitid(P_PID, id, &what, WEXITED);
  reaped_ = true;
  if (what.si_code == CLD_EXITED)
    exit_.code = what.si_status;
  else
    exit_.signal = what.si_status;
}

bool Child::running() {
  reap(WNOHANG);
  return pid_ >= 0 && !reaped_;
}

bool Child::wait(Millis timeout) {
  pollfd p{pidfd_, POLLIN, 0};
  if (running()) ::poll(&p, 1, static_cast<int>(timeout.count()));
  return !running();
}

void Child::kill() {
  if (!running()) return;
  kill_descendants(pid_);
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  reap(0);
}

Result<void> Child::send(std::string_view bytes, Steady::time_point due) {
  while (!bytes.empty()) {
    auto n = ::write(in_, bytes.data(), bytes.size());
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN) {
      TRY(await(in_, POLLOUT, due));
    } else if (errno != EINTR) {
      return fail(Code::unreachable, "the program does not read any more");
    }
  }
  return {};
}

Result<void> Child::receive(std::span<char> into, Steady::time_point due) {
  while (!into.empty()) {
    auto n = ::read(out_, into.data(), into.size());
    if (n > 0) {
      into = into.subspan(static_cast<std::size_t>(n));
    } else if (n < 0 && errno == EAGAIN) {
      TRY(await(out_, POLLIN, due));
    } else if (n == 0 || errno != EINTR) {
      return fail(Code::unreachable, "the program ended");
    }
  }
  return {};
}

std::string Child::drain_stderr(std::size_t max_bytes) {
  std::string out;
  std::array<char, 4096> buffer;
  for (;;) {
    auto n = ::read(err_, buffer.data(), buffer.size());
    if (n <= 0) return out;
    out.append(buffer.data(),
               std::min(static_cast<std::size_t>(n), max_bytes - std::min(max_bytes, out.size())));
  }
}

void Child::discard_output() {
  constexpr int kMaxReads = 64;  // a child that writes without end gets no more
  std::array<char, 16384> buffer;
  for (int fd : {out_, err_})
    for (int i = 0; i<kMaxReads&& ::read(fd, buffer.data(), buffer.size())> 0; ++i) {
    }
}

Result<ExitStatus> Child::communicate(const RunOptions& options) {
  constexpr Millis kPollInterval{100};
  auto input = options.input;
  auto due = Steady::now() + options.timeout;
  std::optional<Steady::time_point> kill_at;
  bool stopped = false;
  if (input.empty()) close_stdin();
  while (running() || out_ >= 0 || err_ >= 0 || report_ >= 0) {
    if (options.timeout.count() > 0 && Steady::now() >= due) {
      kill();
      return fail(Code::timeout, "the program did not finish within {} ms", options.timeout.count());
    }
    if (!stopped && options.should_stop && options.should_stop()) {
      stopped = true;
      kill_at = Steady::now() + options.grace;
      ::kill(-pid_, SIGTERM);
    }
    if (kill_at && Steady::now() >= *kill_at) kill();
    auto left = options.timeout.count() > 0 ? std::chrono::ceil<Millis>(due - Steady::now()) : kPollInterval;
    std::array<pollfd, 5> fds{
        {{in_, POLLOUT, 0}, {out_, POLLIN, 0}, {err_, POLLIN, 0}, {pidfd_, POLLIN, 0}, {report_, POLLIN, 0}}};
    // The pidfd of an exited child stays readable, so poll it only while the child runs. Its grandchildren
    // may keep the pipes open.
    if (!running()) fds[3].fd = -1;
    if (!running() && ::poll(fds.data(), fds.size(), 0) == 0) break;
    ::poll(fds.data(), fds.size(),
           static_cast<int>(std::max<std::int64_t>(1, std::min(left, kPollInterval).count())));
    if (fds[0].revents != 0) {
      auto n = ::write(in_, input.data(), input.size());
      if (n > 0) input.remove_prefix(static_cast<std::size_t>(n));
      if (input.empty() || (n < 0 && errno != EAGAIN && errno != EINTR)) close_stdin();
    }
    auto forwarded = fds[1].revents != 0 ? forward(out_, options.out) : Result<void>();
    if (forwarded && fds[2].revents != 0) forwarded = forward(err_, options.err);
    if (forwarded && fds[4].revents != 0) forwarded = forward(report_, options.report);
    if (!forwarded) {
      kill();
      return Failure(std::move(forwarded).error());
    }
  }
  if (stopped) return fail(Code::interrupted, "the program was stopped");
  return exit_;
}

Result<ProcessResult> run_child(const Command& command, std::string_view input, Millis deadline,
                                std::size_t max_output, const std::function<bool()>& should_stop) {
  auto child = TRY(Child::start(command));
  StringSink out(max_output), err(max_output);
  auto exit = child.communicate({.input = input,
                                 .out = &out,
                                 .err = &err,
                                 .timeout = deadline,
                                 .should_stop = should_stop,
                                 .grace = Millis{0}});
  if (!exit && exit.error().code == Code::too_large)
    return fail(Code::too_large, "the program wrote more than {} bytes", max_output);
  return ProcessResult{TRY(std::move(exit)), out.take(), err.take()};
}

}  // namespace dash::net
