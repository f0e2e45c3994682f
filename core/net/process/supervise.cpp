#include "core/net/process/supervise.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <fstream>
#include <optional>

#include "core/base/file.hpp"

namespace dash::net {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int kCannotSupervise = 126;
constexpr std::chrono::seconds kReapTimeout{10};  // of what the program left behind
constexpr std::chrono::milliseconds kReapInterval{20};

int print_failure(std::string_view what) {
  auto line = fmt::format("supervise: {}: {}\n", what, ::strerrordesc_np(errno));
  (void)!::write(2, line.data(), line.size());
  return kCannotSupervise;
}

struct SuperviseRequest {
  int parent = 0;
  int stop_seconds = 0;
  std::string end_file;
  std::vector<std::string> argv;
};

std::optional<SuperviseRequest> parse_request(const std::vector<std::string>& args) {
  SuperviseRequest out;
  if (args.size() < 5 || args[3] != "--") return std::nullopt;
  for (auto [text, number] : {std::pair{&args[0], &out.parent}, {&args[1], &out.stop_seconds}})
    if (std::from_chars(text->data(), text->data() + text->size(), *number).ec != std::errc())
      return std::nullopt;
  out.end_file = args[2];
  out.argv.assign(args.begin() + 4, args.end());
  return out;
}

void kill_children() {
  std::ifstream children(fmt::format("/proc/self/task/{}/children", ::getpid()));
  for (pid_t pid = 0; children >> pid;) ::kill(pid, SIGKILL);
}

class Supervisor {
 public:
  explicit Supervisor(SuperviseRequest request) : request_(std::move(request)) {}

  int run() {
    if (!prepare()) return print_failure("preparing");
    program_ = ::fork();
    if (program_ < 0) return print_failure("starting the program");
    if (program_ == 0) become_program();
    ::setpgid(program_, program_);
    for (auto& stream : streams_) ::close(stream.pipe[1]);
    while (!status_) step(next_timeout());
    ::kill(-program_, SIGKILL);
    reap_descendants();
    for (auto& stream : streams_) drain(stream);
    note_end();
    return end();
  }

 private:
  struct Stream {
    int to;
    std::array<int, 2> pipe{-1, -1};
    bool is_open = true;
  };

  bool prepare() {
    ::sigemptyset(&signals_);
    for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::sigaddset(&signals_, signal);
    ::sigprocmask(SIG_BLOCK, &signals_, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    signal_fd_ = ::signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK);
    rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    for (auto& stream : streams_)
      if (::pipe2(stream.pipe.data(), O_CLOEXEC) != 0) return false;
    // What the program leaves behind becomes our child, whatever group it is in.
    return signal_fd_ >= 0 && ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 &&
           ::getppid() == request_.parent;
  }

  [[noreturn]] void become_program() {
    ::setpgid(0, 0);
    ::signal(SIGPIPE, SIG_DFL);
    ::dup2(streams_[0].pipe[1], 1);
    ::dup2(streams_[1].pipe[1], 2);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::sigprocmask(SIG_UNBLOCK, &signals_, nullptr);
    std::vector<char*> argv;
    for (auto& word : request_.argv) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(print_failure(request_.argv[0]));
  }

  int next_timeout() const {
    if (!kill_at_) return -1;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - Steady::now()).count();
    return static_cast<int>(std::max<std::int64_t>(0, left));
  }

  void step(int timeout) {
    std::array<pollfd, 3> fds{{{signal_fd_, POLLIN, 0},
                               {streams_[0].is_open ? streams_[0].pipe[0] : -1, POLLIN, 0},
                               {streams_[1].is_open ? streams_[1].pipe[0] : -1, POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), timeout);
    for (std::size_t i = 0; i < streams_.size(); ++i)
      if (fds[i + 1].revents != 0) streams_[i].is_open = forward(streams_[i]);
    signalfd_siginfo info{};
    while (::read(signal_fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      if (info.ssi_signo != SIGCHLD) interrupt();
    reap();
    if (kill_at_ && Steady::now() >= *kill_at_) ::kill(-program_, SIGKILL);
  }

  // Only once: a program that is interrupted twice stops without saving.
  void interrupt() {
    if (kill_at_) return;
    kill_at_ = Steady::now() + std::chrono::seconds(request_.stop_seconds);
    ::kill(-program_, SIGINT);
  }

  bool reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0)
      if (pid == program_) status_ = status;
    return pid == 0;  // there are more
  }

  void reap_descendants() {
    for (auto due = Steady::now() + kReapTimeout; reap() && Steady::now() < due;) {
      kill_children();
      ::poll(nullptr, 0, static_cast<int>(kReapInterval.count()));
    }
  }

  // Passes on what is there. Returns false at the end of the stream.
  static bool forward(Stream& stream) {
    std::array<char, 16384> buffer;
    auto size = ::read(stream.pipe[0], buffer.data(), buffer.size());
    if (size < 0) return errno == EINTR || errno == EAGAIN;
    for (std::string_view rest(buffer.data(), static_cast<std::size_t>(size)); !rest.empty();) {
      auto written = ::write(stream.to, rest.data(), rest.size());
      if (written < 0 && errno != EINTR) break;  // nobody listens any more
      if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
    }
    return size > 0;
  }

  static void drain(Stream& stream) {
    ::fcntl(stream.pipe[0], F_SETFL, O_NONBLOCK);
    pollfd waiting{stream.pipe[0], POLLIN, 0};
    while (stream.is_open && ::poll(&waiting, 1, 0) > 0) stream.is_open = forward(stream);
  }

  void note_end() const {
    bool exited = WIFEXITED(*status_);
    auto text =
        exited ? fmt::format("exit {}", WEXITSTATUS(*status_)) : fmt::format("signal {}", WTERMSIG(*status_));
    if (!request_.end_file.empty()) std::ignore = write_file(request_.end_file, text, 0600);
  }

  int end() const {
    if (WIFEXITED(*status_)) return WEXITSTATUS(*status_);
    int signal = WTERMSIG(*status_);
    ::signal(signal, SIG_DFL);
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_UNBLOCK, &all, nullptr);
    ::kill(::getpid(), signal);
    return 128 + signal;
  }

  SuperviseRequest request_;
  sigset_t signals_{};
  int signal_fd_ = -1;
  pid_t program_ = -1;
  std::array<Stream, 2> streams_{{{1}, {2}}};
  std::optional<int> status_;
  std::optional<Steady::time_point> kill_at_;
};

}  // namespace

Command supervised(const Command& command, const Supervision& supervision, const std::string& launcher) {
  Command out{{launcher, std::string(kSupervise), std::to_string(::getpid()),
               std::to_string(supervision.stop_timeout.count()), supervision.end_file, "--"},
              command.env,
              command.cwd};
  out.argv.insert(out.argv.end(), command.argv.begin(), command.argv.end());
  return out;
}

int supervise(const std::vector<std::string>& args) {
  auto request = parse_request(args);
  if (!request) {
    errno = EINVAL;
    return print_failure("usage");
  }
  return Supervisor(*std::move(request)).run();
}

}  // namespace dash::net
