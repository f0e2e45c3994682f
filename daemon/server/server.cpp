#include "daemon/server/server.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <list>

#include "core/base/log.hpp"
#include "daemon/server/connection.hpp"
#include "daemon/server/listener.hpp"
#include "daemon/server/own_routes.hpp"
#include "daemon/server/tls.hpp"

namespace dash::daemon {
namespace {

// Threads of a loop: one leads it, the others run short handlers; what comes on top of them goes to the
// pools.
constexpr std::size_t kCrew = 4;
// Out of descriptors: accept() would fail again at once.
constexpr std::chrono::milliseconds kAcceptPause{100};

class RealServer final : public Server {
 public:
  RealServer(const ServerOptions& options, TrustedProxies proxies, std::vector<Route> routes, PartPool& parts,
             TlsContext tls);
  ~RealServer() override { stop(); }
  Result<void> listen(const std::vector<std::string>& addresses);
  void run();
  std::uint16_t port() const override;
  void stop() override;

 private:
  struct Door {
    Listener listener;
    asio::posix::stream_descriptor watch;
    asio::steady_timer pause;
  };
  void accept(Door& door);
  void on_acceptable(Door& door);
  void welcome(Accepted accepted);
  void on_every_loop(const std::function<void(Connection&)>& action);

  TlsContext tls_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::list<Door> doors_;  // all watched on the first loop
  std::size_t next_loop_ = 0;
  Readiness readiness_;
  Dispatcher dispatcher_;  // its pools end before the loops that they post to
  bool runs_ = false;
  bool stopped_ = false;
};

std::vector<Route> with_own(std::vector<Route> routes, Readiness& readiness,
                            std::function<std::string()> metrics) {
  add_own_routes(routes, readiness, std::move(metrics));
  return routes;
}

RealServer::RealServer(const ServerOptions& options, TrustedProxies proxies, std::vector<Route> routes,
                       PartPool& parts, TlsContext tls)
    : tls_(std::move(tls)),
      readiness_(options.ready_checks),
      dispatcher_(options, std::move(proxies),
                  with_own(std::move(routes), readiness_,
                           [this] { return dispatcher_.metrics_text() + readiness_.metrics_text(); }),
                  parts) {
  for (std::size_t i = 0; i < std::max<std::size_t>(options.io_threads, 1); ++i)
    loops_.push_back(std::make_unique<Loop>());
}

Result<void> RealServer::listen(const std::vector<std::string>& addresses) {
  auto listeners = TRY(inherited_listeners());
  for (const auto& address : addresses) listeners.push_back(TRY(listen_on(address)));
  if (listeners.empty())
    return fail(Code::usage, "no address to listen on; give --listen 127.0.0.1:8080 or unix:PATH");
  auto& io = loops_.front()->io;
  for (auto& listener : listeners) {
    int fd = listener.release();
    doors_.push_back({std::move(listener), asio::posix::stream_descriptor(io, fd), asio::steady_timer(io)});
  }
  return {};
}

void RealServer::run() {
  for (auto& door : doors_) {
    log::info("listening", {{"addr", door.listener.address()}, {"tls", tls_ != nullptr}});
    accept(door);
  }
  for (auto& loop : loops_) loop->crew.start(kCrew);
  runs_ = true;
}

std::uint16_t RealServer::port() const {
  for (const auto& door : doors_)
    if (door.listener.port() != 0) return door.listener.port();
  return 0;
}

void RealServer::accept(Door& door) {
  door.watch.async_wait(asio::posix::stream_descriptor::wait_read, [this, &door](error_code error) {
    if (!error) on_acceptable(door);
  });
}

void RealServer::on_acceptable(Door& door) {
  auto accepted = accept_from(door.watch.native_handle());
  bool exhausted =
      accepted.fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
  if (accepted.fd >= 0) welcome(std::move(accepted));
  if (!exhausted) return accept(door);
  log::error("out_of_descriptors", {{"connections", dispatcher_.connections().count()}});
  // The loop closes it before it comes back here.
  if (dispatcher_.connections().evict_longest_idle())
    return asio::post(loops_.front()->io, [this, &door] { accept(door); });
  door.pause.expires_after(kAcceptPause);
  door.pause.async_wait([this, &door](error_code error) {
    if (!error) accept(door);
  });
}

void RealServer::welcome(Accepted accepted) {
  auto& loop = *loops_[next_loop_++ % loops_.size()];
  Socket socket(loop.io, asio::generic::stream_protocol(accepted.family, 0), accepted.fd);
  auto row = dispatcher_.connections().enter(dispatcher_.network_of_peer(accepted.peer));
  if (!row) return;  // the socket closes here
  // TLS is for networks; a Unix socket has none.
  auto* tls = accepted.family == AF_UNIX ? nullptr : tls_.get();
  auto connection = std::make_shared<Connection>(loop, std::move(socket), std::move(accepted.peer),
                                                 dispatcher_, tls, std::move(row));
  asio::post(loop.io, [connection] { connection->start(); });
}

void RealServer::on_every_loop(const std::function<void(Connection&)>& action) {
  for (auto& loop : loops_)
    asio::post(loop->io, [&loop = *loop, action] {
      auto snapshot = loop.connections;  // an action may remove its connection
      for (auto& [key, connection] : snapshot) action(*connection);
    });
}

void RealServer::stop() {
  if (std::exchange(stopped_, true)) return;
  dispatcher_.draining() = true;
  if (runs_) {
    asio::post(loops_.front()->io, [this] {
      for (auto& door : doors_) {
        error_code ignored;
        door.pause.cancel(ignored);
        door.watch.close(ignored);
      }
    });
    on_every_loop([](Connection& connection) { connection.drain(); });
    if (!dispatcher_.connections().wait_until_empty(dispatcher_.limits().drain_time)) {
      log::warning("drain_cut", {{"connections", dispatcher_.connections().count()}});
      on_every_loop([](Connection& connection) { connection.close(); });
      dispatcher_.connections().wait_until_empty(kAcceptPause);
    }
  }
  for (auto& loop : loops_) loop->crew.stop();
  doors_.clear();
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, std::vector<Route> routes,
                                              PartPool& parts) {
  auto proxies = TRY(TrustedProxies::parse(options.trusted_proxies));
  auto tls = TRY(load_tls(options.tls_certificate_file, options.tls_key_file));
  auto addresses = options.listen;
  auto server =
      std::make_unique<RealServer>(options, std::move(proxies), std::move(routes), parts, std::move(tls));
  TRY(server->listen(addresses));
  server->run();
  return server;
}

}  // namespace dash::daemon
