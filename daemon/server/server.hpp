// The HTTP server: listeners, limits, routing, worker pools, drain. cmd/serve.cpp calls serve(); tests start
// a Server on port 0 in their own process. HTTP/1.1 after RFC 9110 and 9112. Handlers block on worker pools;
// sockets belong to the I/O loops, which run short handlers themselves.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/buffer_pool.hpp"
#include "core/base/error.hpp"
#include "daemon/http/route.hpp"
#include "daemon/server/limits.hpp"

namespace dash::net {
class SpanExporter;
}

namespace dash::daemon {

struct PoolSize {
  std::size_t threads;
  // At most this many wait, half of them of one user, three quarters of one network; else 503.
  std::size_t queue;
};

enum class CheckKind {
  required,  // runs for each response; not ready without it
  reported,  // runs for each response
  degrades,  // runs in the background, at least every five seconds; named under `degraded`
};

// One line of /readyz (daemon/server/readiness.hpp).
struct ReadyCheck {
  std::string name;
  std::function<Result<void>()> check;
  CheckKind kind = CheckKind::required;
};

struct ServerOptions {
  // "127.0.0.1:8080", "[::1]:0", "unix:/run/dashctl.sock"; when empty and LISTEN_FDS is set: the sockets of
  // systemd.
  std::vector<std::string> listen{};
  std::vector<std::string> trusted_proxies{};  // literal addresses, or "unix" for every peer on a Unix socket
  std::string tls_certificate_file{};          // PEM chain; empty: no TLS
  std::string tls_key_file{};
  std::size_t io_threads = 0;  // I/O loops; 0: one a processor, two to eight
  PoolSize fast{4, 512};
  PoolSize login{2, 64};
  PoolSize policy{16, 128};
  PoolSize store{8, 128};
  PoolSize health{2, 64};
  Limits limits{};
  std::vector<ReadyCheck> ready_checks{};
  Authenticate authenticate{};         // empty: only routes of Auth::anybody and Auth::login work
  std::function<void()> on_stop{};     // called once when the server begins to stop, before requests drain
  net::SpanExporter* spans = nullptr;  // gets the span of each sampled request; must outlive the server
};

class Server {
 public:
  // Binds, logs one "listening" event for each address and serves. Adds the daemon's own routes (/livez,
  // /readyz, /metrics, /openapi.yaml, /, /console/) to `routes`. `buffers` must outlive the server.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, std::vector<Route> routes,
                                               BufferPool& buffers);
  virtual ~Server() = default;
  // Returns the port of the first TCP listener; 0 when there is none.
  virtual std::uint16_t port() const = 0;
  // Reads the TLS files again, for connections that come from now on; those that are open stay as they are.
  // With an error the old certificate is served on.
  virtual Result<void> reload_tls() = 0;
  // Stops accepting, closes idle connections, lets running requests end within Limits::drain_time. Blocks;
  // idempotent.
  virtual void stop() = 0;
};

// Runs until SIGTERM or SIGINT, then drains. Notifies systemd with READY and STOPPING. SIGHUP reads the TLS files
// again where TLS is on and the process has no controlling terminal; else it drains too. nohup's setting is kept.
Result<void> serve(ServerOptions options, std::vector<Route> routes, BufferPool& buffers);

}  // namespace dash::daemon
