#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/log.hpp"
#include "daemon/server/server.hpp"
#include "daemon/server/systemd.hpp"

namespace dash::daemon {
namespace {

int stop_event = -1;

// Async-signal-safe: the waiting thread does the rest. SA_RESETHAND lets a second signal end the process at
// once.
void on_stop_signal(int) {
  const std::uint64_t one = 1;
  int saved = errno;
  (void)!::write(stop_event, &one, sizeof one);
  errno = saved;
}

// A handler and not a blocked mask, because child processes would inherit the mask and ignore SIGTERM.
Result<void> catch_stop_signals() {
  stop_event = ::eventfd(0, EFD_CLOEXEC);
  if (stop_event < 0) return fail(Code::internal, "eventfd: {}", ::strerror(errno));
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  // SIGHUP comes when a terminal closes. nohup ignores it, and that setting is kept.
  struct sigaction before {};
  ::sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return {};
}

void wait_for_stop_signal() {
  std::uint64_t count = 0;
  while (::read(stop_event, &count, sizeof count) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<void> serve(ServerOptions options, std::vector<Route> routes, BufferPool& buffers) {
  TRY(catch_stop_signals());
  auto on_stop = options.on_stop;
  auto server = TRY(Server::start(std::move(options), std::move(routes), buffers));
  notify_service_manager("READY=1");
  wait_for_stop_signal();
  notify_service_manager("STOPPING=1");
  log::info("stopping");
  if (on_stop) on_stop();
  server->stop();
  log::info("stopped");
  return {};
}

}  // namespace dash::daemon
