#include "daemon/server/server.hpp"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <list>

#include "core/base/log.hpp"
#include "core/base/published_samples.hpp"
#include "daemon/server/connection.hpp"
#include "daemon/server/health_routes.hpp"
#include "daemon/server/listener.hpp"
#include "daemon/server/tls.hpp"

namespace dash::daemon {
namespace {

// Threads of a loop: one leads it and runs short handlers, the others take over when one waits. All other work runs
// on the pools.
constexpr std::size_t kThreadsPerLoop = 4;
// Handlers of different loops run side by side.
constexpr std::size_t kMinLoops = 2, kMaxLoops = 8;
// Out of descriptors: accept() would fail again at once.
constexpr std::chrono::milliseconds kAcceptPause{100};

class HttpServer final : public Server {
 public:
  HttpServer(const ServerOptions& options, TrustedProxies proxies, std::vector<Route> routes,
             BufferPool& buffers, TlsContext tls);
  ~HttpServer() override { stop(); }
  Result<void> listen(const std::vector<std::string>& addresses);
  void run();
  std::uint16_t port() const override;
  Result<void> reload_tls() override;
  void stop() override;

 private:
  struct Acceptor {
    Listener listener;
    asio::posix::stream_descriptor watch;
    asio::steady_timer pause;
  };
  void accept(Acceptor& acceptor);
  void on_acceptable(Acceptor& acceptor);
  void after_closing(std::size_t loops, std::function<void()> then);
  void on_accept(AcceptResult accepted);
  std::string metrics_text() const;
  void for_each_connection(const std::function<void(Connection&)>& action);

  const std::string tls_certificate_file_, tls_key_file_;
  TlsContext tls_;  // used on the first loop
  std::vector<std::unique_ptr<Loop>> loops_;
  std::list<Acceptor> acceptors_;  // all watched on the first loop
  std::size_t next_loop_ = 0;
  Readiness readiness_;
  Dispatcher dispatcher_;  // its pools end before the loops that they post to
  bool is_running_ = false;
  bool is_stopped_ = false;
};

std::vector<Route> with_health_routes(std::vector<Route> routes, Readiness& readiness,
                                      std::function<std::string()> metrics) {
  add_health_routes(routes, readiness, std::move(metrics));
  return routes;
}

std::string HttpServer::metrics_text() const {
  auto samples = metrics::published();
  dispatcher_.add_samples(samples);
  readiness_.add_samples(samples);
  return metrics::expose(samples);
}

HttpServer::HttpServer(const ServerOptions& options, TrustedProxies proxies, std::vector<Route> routes,
                       BufferPool& buffers, TlsContext tls)
    : tls_certificate_file_(options.tls_certificate_file),
      tls_key_file_(options.tls_key_file),
      tls_(std::move(tls)),
      readiness_(options.ready_checks),
      dispatcher_(options, std::move(proxies),
                  with_health_routes(std::move(routes), readiness_, [this] { return metrics_text(); }),
                  buffers) {
  auto count = options.io_threads;
  if (count == 0) count = std::clamp<std::size_t>(std::thread::hardware_concurrency(), kMinLoops, kMaxLoops);
  while (loops_.size() < count) loops_.push_back(std::make_unique<Loop>());
}

Result<void> HttpServer::listen(const std::vector<std::string>& addresses) {
  auto listeners = TRY(inherited_listeners());
  for (const auto& address : addresses) listeners.push_back(TRY(listen_on(address)));
  if (listeners.empty())
    return fail(Code::usage, "no address to listen on; give --listen 127.0.0.1:8080 or unix:PATH");
  auto& io = loops_.front()->io;
  for (auto& listener : listeners) {
    int fd = listener.release();
    acceptors_.push_back(
        {std::move(listener), asio::posix::stream_descriptor(io, fd), asio::steady_timer(io)});
  }
  return {};
}

void HttpServer::run() {
  for (auto& acceptor : acceptors_) {
    log::info("listening", {{"addr", acceptor.listener.address()}, {"tls", tls_ != nullptr}});
    accept(acceptor);
  }
  for (auto& loop : loops_) loop->threads.start(kThreadsPerLoop);
  is_running_ = true;
}

std::uint16_t HttpServer::port() const {
  for (const auto& acceptor : acceptors_)
    if (acceptor.listener.port() != 0) return acceptor.listener.port();
  return 0;
}

// A connection keeps what it needs of the context it began with.
Result<void> HttpServer::reload_tls() {
  auto tls = TRY(load_tls(tls_certificate_file_, tls_key_file_));
  asio::post(loops_.front()->io, [this, tls = std::move(tls)]() mutable { tls_ = std::move(tls); });
  return {};
}

void HttpServer::accept(Acceptor& acceptor) {
  acceptor.watch.async_wait(asio::posix::stream_descriptor::wait_read, [this, &acceptor](error_code error) {
    if (!error) on_acceptable(acceptor);
  });
}

void HttpServer::on_acceptable(Acceptor& acceptor) {
  auto accepted = accept_from(acceptor.watch.native_handle());
  bool exhausted =
      accepted.fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
  if (accepted.fd >= 0) on_accept(std::move(accepted));
  if (!exhausted) return accept(acceptor);
  log::error("server.out_of_descriptors", {{"connections", dispatcher_.connections().count()}});
  if (dispatcher_.connections().evict_longest_idle())
    return after_closing(loops_.size(), [this, &acceptor] { accept(acceptor); });
  acceptor.pause.expires_after(kAcceptPause);
  acceptor.pause.async_wait([this, &acceptor](error_code error) {
    if (!error) accept(acceptor);
  });
}

// Goes through all loops, the first one last: each closes what was evicted before it passes this on.
void HttpServer::after_closing(std::size_t loops, std::function<void()> then) {
  asio::post(loops_[loops - 1]->io, [this, loops, then = std::move(then)]() mutable {
    loops == 1 ? then() : after_closing(loops - 1, std::move(then));
  });
}

void HttpServer::on_accept(AcceptResult accepted) {
  auto& loop = *loops_[next_loop_++ % loops_.size()];
  Socket socket(loop.io, asio::generic::stream_protocol(accepted.family, 0), accepted.fd);
  auto row = dispatcher_.connections().enter(dispatcher_.network_of_peer(accepted.peer));
  if (!row) return;  // the socket closes here
  // TLS is for networks; a Unix socket has none.
  auto* tls = accepted.family == AF_UNIX ? nullptr : tls_.get();
  std::make_shared<Connection>(loop, std::move(socket), std::move(accepted.peer), dispatcher_, tls,
                               std::move(row))
      ->on_accepted();
}

void HttpServer::for_each_connection(const std::function<void(Connection&)>& action) {
  for (auto& loop : loops_)
    asio::post(loop->io, [&loop = *loop, action] {
      auto snapshot = loop.connections;  // an action may remove its connection
      for (auto& [key, connection] : snapshot) action(*connection);
    });
}

void HttpServer::stop() {
  if (std::exchange(is_stopped_, true)) return;
  dispatcher_.draining() = true;
  if (is_running_) {
    asio::post(loops_.front()->io, [this] {
      for (auto& acceptor : acceptors_) {
        error_code ignored;
        acceptor.pause.cancel(ignored);
        acceptor.watch.close(ignored);
      }
    });
    for_each_connection([](Connection& connection) { connection.drain(); });
    if (!dispatcher_.connections().wait_until_empty(dispatcher_.limits().drain_time)) {
      log::warning("server.drain_timeout", {{"connections", dispatcher_.connections().count()}});
      for_each_connection([](Connection& connection) { connection.close(); });
      dispatcher_.connections().wait_until_empty(kAcceptPause);
    }
  }
  for (auto& loop : loops_) loop->threads.stop();
  acceptors_.clear();
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, std::vector<Route> routes,
                                              BufferPool& buffers) {
  auto proxies = TRY(TrustedProxies::parse(options.trusted_proxies));
  auto tls = TRY(load_tls(options.tls_certificate_file, options.tls_key_file));
  auto addresses = options.listen;
  auto server =
      std::make_unique<HttpServer>(options, std::move(proxies), std::move(routes), buffers, std::move(tls));
  TRY(server->listen(addresses));
  server->run();
  return server;
}

}  // namespace dash::daemon
