#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/log.hpp"
#include "daemon/server/server.hpp"
#include "daemon/server/systemd.hpp"

namespace dash::daemon {
namespace {

int signal_event = -1;
// The low half of the event's count has the signals to stop, the high half those to read the TLS files again.
constexpr std::uint64_t kStop = 1;
constexpr std::uint64_t kReload = std::uint64_t{1} << 32;

// 6,016 connections, those that wait included, and files and sockets of stores and programs beside them.
constexpr rlim_t kDescriptors = 8192;

// Async-signal-safe: the waiting thread does the rest.
void post(std::uint64_t event) {
  int saved = errno;
  (void)!::write(signal_event, &event, sizeof event);
  errno = saved;
}
void on_stop_signal(int) { post(kStop); }
void on_reload_signal(int) { post(kReload); }

// Asked at the start: a terminal that hangs up is no longer there when its SIGHUP comes.
bool has_controlling_terminal() {
  int terminal = ::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal >= 0) ::close(terminal);
  return terminal >= 0;
}

// A handler and not a blocked mask, because child processes would inherit the mask and ignore SIGTERM.
Result<void> catch_signals(bool serves_tls) {
  signal_event = ::eventfd(0, EFD_CLOEXEC);
  if (signal_event < 0) return fail(Code::internal, "eventfd: {}", ::strerror(errno));
  struct sigaction stop {};
  stop.sa_handler = on_stop_signal;
  stop.sa_flags = static_cast<int>(SA_RESETHAND);  // a second signal ends the process at once
  ::sigaction(SIGTERM, &stop, nullptr);
  ::sigaction(SIGINT, &stop, nullptr);
  struct sigaction reload {};
  reload.sa_handler = on_reload_signal;
  // SIGHUP comes when a terminal closes. nohup ignores it, and that setting is kept.
  struct sigaction before {};
  ::sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN)
    ::sigaction(SIGHUP, serves_tls && !has_controlling_terminal() ? &reload : &stop, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return {};
}

void reload_tls(Server& server) {
  auto reloaded = server.reload_tls();
  if (reloaded) return log::info("tls.reloaded");
  log::error("tls.reload_failed", {{"message", reloaded.error().message}, {"serves", "the old certificate"}});
}

void wait_for_stop_signal(Server& server) {
  for (;;) {
    std::uint64_t count = 0;
    if (::read(signal_event, &count, sizeof count) < 0 && errno == EINTR) continue;
    if (count % kReload >= kStop || count == 0) return;
    reload_tls(server);
  }
}

// Shells and systemd start programs with 1,024, fewer than the connections.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kDescriptors) return;
  limit.rlim_cur = std::min(limit.rlim_max, kDescriptors);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Result<void> serve(ServerOptions options, std::vector<Route> routes, BufferPool& buffers) {
  TRY(catch_signals(!options.tls_certificate_file.empty()));
  raise_descriptor_limit();
  auto on_stop = options.on_stop;
  auto server = TRY(Server::start(std::move(options), std::move(routes), buffers));
  notify_service_manager("READY=1");
  wait_for_stop_signal(*server);
  notify_service_manager("STOPPING=1");
  log::info("stopping");
  if (on_stop) on_stop();
  server->stop();
  log::info("stopped");
  return {};
}

}  // namespace dash::daemon
