// Finds the row for a request, and does what every response needs: request ids, security headers, one access
// line, counts, the worker pools. Connections call it; no socket is used here.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/metrics.hpp"
#include "core/base/thread_pool.hpp"
#include "core/base/trace.hpp"
#include "daemon/http/forwarded.hpp"
#include "daemon/http/parser.hpp"
#include "daemon/http/router.hpp"
#include "daemon/server/connection_table.hpp"
#include "daemon/server/memory_limit.hpp"
#include "daemon/server/server.hpp"

namespace dash::daemon {

// The memory limit from which a request's body is taken.
enum class BodyMemory { general, sign_in, agent };

// Code::too_large: a body of more than `limit` decoded bytes.
Error body_too_large(std::uint64_t limit);

// One request and its response.
struct RequestContext {
  Request request;
  const Route* route = nullptr;
  bool head_only = false;        // HEAD
  std::uint64_t body_limit = 0;  // of the decoded body
  BodyMemory body_memory = BodyMemory::general;
  std::string small_body;  // what Request::body views for Body::small
  MemoryLimit::Reservation small_body_reservation;
  Handler handler;  // from Route::admit
  std::unique_ptr<RequestBodySink> sink;
  SteadyTime began;
  TraceContext trace;       // the span of this request
  std::string parent_span;  // of the caller; empty when it named none
  std::optional<SteadyTime> authenticated_at;
};

class Dispatcher {
 public:
  Dispatcher(const ServerOptions& options, TrustedProxies proxies, std::vector<Route> routes,
             BufferPool& buffers);

  // Fills the context from the header section. Returns a response when that alone is a reason to refuse: no
  // such path or method, a body that is too large or has no length.
  std::optional<Response> match_route(const RequestHead& head, const std::string& peer,
                                      RequestContext& context) const;
  // Fills the context for bytes that are no request.
  void begin_malformed(const std::string& peer, RequestContext& context) const;

  static bool needs_authentication(const Route& route);
  // Finds the caller as the route's auth demands, unless that was done within Limits::caller_age. Reads the
  // database.
  Result<void> authenticate(RequestContext& context) const;
  // Limits the body of an unknown caller. It comes out of a reserve of its own, and so does an agent's.
  static void limit_body(RequestContext& context);

  // Returns the pool of a route; null: the I/O thread itself.
  ThreadPool* pool(Pool which);
  // Runs a hook or handler. An exception becomes Code::internal.
  Result<Response> handle(RequestContext& context) const;
  static Result<void> admit(RequestContext& context);
  static Result<void> write(RequestContext& context, std::string_view bytes);
  Result<Response> finish(RequestContext& context) const;
  static Result<std::size_t> read(ResponseBody& source, std::span<char> into);
  static Result<Response> finish_deferred(DeferredResponse& deferred);

  // Returns the response to an error and logs its detail.
  Response refusal(const RequestContext& context, const Error& error) const;
  // Adds the headers of every response.
  void add_headers(const RequestContext& context, Response& response) const;
  // Writes one access line and the counts, and exports the span. `cut`: the client did not get all of it.
  void log_access(const RequestContext& context, int status, std::uint64_t bytes, bool cut);

  // Adds what is true now of connections, buffers and pools.
  void add_samples(metrics::Samples& out) const;
  const Limits& limits() const { return limits_; }
  BufferPool& buffers() { return buffers_; }
  // Returns false when the bodies that are being read leave no memory for so many more bytes.
  bool grow_small_body(RequestContext& context, std::uint64_t bytes);
  ConnectionTable& connections() { return connections_; }
  // Returns the network that a new connection counts for; blank for a trusted proxy, whose requests count for
  // their clients.
  std::string network_of_peer(const std::string& peer) const;
  std::atomic<bool>& draining() { return draining_; }

 private:
  // `route` is the pattern, not the path, so that the number of labels stays small.
  static void count_request(std::string_view method, std::string_view route, int status,
                            std::chrono::microseconds took);
  const Limits limits_;
  const TrustedProxies proxies_;
  const Authenticate authenticate_;
  net::SpanExporter* const spans_;
  BufferPool& buffers_;
  const Router router_;
  MemoryLimit& body_memory(BodyMemory which);
  MemoryLimit small_bodies_, sign_in_bodies_, agent_bodies_;
  ConnectionTable connections_;
  std::atomic<bool> draining_ = false;
  ThreadPool fast_, login_, policy_, store_, health_;  // last: joined before the other members are destroyed
};

}  // namespace dash::daemon
