#include "daemon/server/dispatch.hpp"

#include <algorithm>
#include <array>
#include <random>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/net/http/span_exporter.hpp"
#include "daemon/http/target.hpp"
#include "daemon/server/console.hpp"

namespace dash::daemon {
namespace {

// It only names log lines and protects nothing, so it need not be unguessable.
std::string new_request_id() {
  thread_local std::mt19937_64 source{std::random_device{}()};
  return fmt::format("{:012x}", source() & 0xffff'ffff'ffffu);
}

bool is_request_id(std::string_view text) {
  auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), allowed);
}

std::string request_id_of(const Headers& headers) {
  auto given = headers.get("X-Request-Id");
  return given && is_request_id(*given) ? *given : new_request_id();
}

// A trace that is named twice is none (Trace Context, section 3.2.1).
void begin_span_of(RequestContext& context) {
  std::optional<TraceContext> parent;
  int count = 0;
  for (const auto& [name, value] : context.request.headers)
    if (lower(name) == "traceparent") parent = parse_traceparent(trim(value)), ++count;
  if (count > 1) parent.reset();
  context.trace = parent ? begin_span(*parent) : begin_trace(/*is_sampled=*/true);
  if (parent) context.parent_span = std::move(parent->span_id);
}

net::Span span_of(const RequestContext& context, std::string_view method, int status,
                  std::chrono::microseconds took) {
  net::Span out;
  out.context = context.trace;
  out.parent_id = context.parent_span;
  std::string route = context.route ? context.route->pattern : "";
  out.name = route.empty() ? std::string(method) : fmt::format("{} {}", method, route);
  out.ended = SystemClock().now();
  out.began = out.ended - took;
  out.attributes = {{"http.request.method", std::string(method)},
                    {"url.path", context.request.path},
                    {"http.response.status_code", std::int64_t{status}},
                    {"client.address", context.request.client},
                    {"dashctl.request_id", context.request.request_id}};
  if (!route.empty()) out.attributes.emplace_back("http.route", route);
  out.is_error = status >= 500;
  return out;
}

std::uint64_t body_limit(const Route& route) {
  switch (route.body) {
    case Body::none:
      return kIgnoredBody;
    case Body::part:
      return std::min<std::uint64_t>(route.max_body, kPartBytes);
    default:
      return route.max_body;
  }
}

// 417 and 411 have no Code of their own: only HTTP has expectations and requests of unknown length.
Response status_response(int status, std::string message) {
  auto response = error_response({.code = Code::invalid, .message = std::move(message)});
  response.status = status;
  return response;
}

std::optional<Response> check_body(const RequestHead& head, const RequestContext& context) {
  if (head.has_unknown_expectation)
    return status_response(417, "the only expectation that is met here is 100-continue");
  if (context.route->body == Body::part && !head.content_length)
    return status_response(411, "Content-Length is required: a part declares its size before its bytes");
  if (head.content_length.value_or(0) <= context.body_limit) return std::nullopt;
  return error_response(body_too_large(context.body_limit));
}

Response not_found_response(const std::string& allow) {
  if (allow.empty()) return error_response(make_error(Code::not_found, "Not Found"));
  auto response = error_response(make_error(Code::method_not_allowed, "Method Not Allowed"));
  response.headers.add("Allow", allow);
  return response;
}

// "/api/jobs/" is sent to "/api/jobs", as clients of the deployed dashboards expect.
std::optional<Response> redirect_without_slash(const Router& router, const RequestHead& head,
                                               std::string_view path) {
  if (!path.ends_with('/')) return std::nullopt;
  path.remove_suffix(1);
  if (path.empty() || !router.match(head.method, path).route) return std::nullopt;
  auto query = head.target.substr(std::min(head.target.find('?'), head.target.size()));
  auto response = text_response(307, "", "");
  response.headers.add("Location", std::string(path) + query);
  return response;
}

ShareLimits shares_of(const PoolSize& pool) {
  return {std::max<std::size_t>(pool.queue / 2, 1), std::max<std::size_t>(pool.queue * 3 / 4, 1)};
}

// An exception of a handler is a bug. Its text may contain anything, so only the log gets it.
template <class T, class Work>
Result<T> catch_exceptions(Work&& work) {
  try {
    return work();
  } catch (const std::exception& e) {
    return Failure(Error{.code = Code::internal,
                         .message = "internal error; the log has the reason under this request's id",
                         .detail = e.what()});
  }
}

}  // namespace

Error body_too_large(std::uint64_t limit) {
  return too_large("the body may have at most {} bytes here", limit);
}

Dispatcher::Dispatcher(const ServerOptions& options, TrustedProxies proxies, std::vector<Route> routes,
                       BufferPool& buffers)
    : limits_(options.limits),
      proxies_(std::move(proxies)),
      authenticate_(options.authenticate),
      spans_(options.spans),
      buffers_(buffers),
      router_(std::move(routes)),
      small_bodies_(options.limits.small_bodies_bytes,
                    {options.limits.small_bodies_per_user, options.limits.small_bodies_per_network}),
      sign_in_bodies_(options.limits.sign_in_bodies_bytes),
      agent_bodies_(options.limits.agent_bodies_bytes,
                    {.per_network = options.limits.agent_bodies_per_network}),
      connections_(
          {options.limits.connections, options.limits.extra_connections, options.limits.parked_connections}),
      fast_("fast", options.fast.threads, options.fast.queue, shares_of(options.fast)),
      login_("login", options.login.threads, options.login.queue, shares_of(options.login)),
      policy_("policy", options.policy.threads, options.policy.queue, shares_of(options.policy)),
      store_("store", options.store.threads, options.store.queue, shares_of(options.store)),
      health_("health", options.health.threads, options.health.queue) {}

void Dispatcher::begin_malformed(const std::string& peer, RequestContext& context) const {
  context.began = SystemClock().steady_now();
  context.request.peer = context.request.client = peer;
  context.request.request_id = new_request_id();
  begin_span_of(context);
}

std::optional<Response> Dispatcher::match_route(const RequestHead& head, const std::string& peer,
                                                RequestContext& context) const {
  auto& request = context.request;
  context.began = SystemClock().steady_now();
  context.head_only = head.method == "HEAD";
  request.is_head = context.head_only;
  request.method = context.head_only ? "GET" : head.method;
  request.target = head.target;
  request.path = head.target.substr(0, head.target.find('?'));
  request.headers = head.headers;
  request.content_length = head.content_length;
  request.peer = peer;
  request.client = proxies_.client_of(peer, request.headers);
  request.request_id = request_id_of(request.headers);
  begin_span_of(context);
  auto target = parse_target(head.target);
  if (!target) return error_response(make_error(Code::invalid, "the request target is malformed"));
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  auto match = router_.match(head.method, request.path);
  if (!match.route) {
    auto redirect = match.allow.empty() ? redirect_without_slash(router_, head, request.path) : std::nullopt;
    return redirect ? std::move(redirect) : not_found_response(match.allow);
  }
  context.route = match.route;
  request.params = std::move(match.params);
  context.body_limit = body_limit(*match.route);
  return check_body(head, context);
}

ThreadPool* Dispatcher::pool(Pool which) {
  switch (which) {
    case Pool::io:
      return nullptr;
    case Pool::fast:
      return &fast_;
    case Pool::login:
      return &login_;
    case Pool::policy:
      return &policy_;
    case Pool::store:
      return &store_;
    case Pool::health:
      break;
  }
  return &health_;
}

bool Dispatcher::needs_authentication(const Route& route) {
  auto rule = route.auth.rule();
  return rule != Auth::anybody && rule != Auth::login && rule != Auth::agent;
}

Result<void> Dispatcher::authenticate(RequestContext& context) const {
  auto now = SystemClock().steady_now();
  bool is_known = context.authenticated_at && now - *context.authenticated_at < limits_.caller_age;
  if (is_known || !needs_authentication(*context.route)) return {};
  if (!authenticate_) return fail(Code::internal, "the server was started without a way to know its callers");
  context.request.principal = TRY(catch_exceptions<std::optional<Principal>>(
      [&] { return authenticate_(context.route->auth, context.request); }));
  context.authenticated_at = now;
  return {};
}

void Dispatcher::limit_body(RequestContext& context) {
  auto rule = context.route->auth.rule();
  if (rule == Auth::agent) context.body_memory = BodyMemory::agent;
  bool is_sign_in = rule == Auth::login || rule == Auth::claim;
  if (!is_sign_in || context.request.may_send_large) return;
  context.body_memory = BodyMemory::sign_in;
  context.body_limit = std::min(context.body_limit, kSignInBody);
}

bool Dispatcher::grow_small_body(RequestContext& context, std::uint64_t bytes) {
  return context.small_body_reservation.grow(body_memory(context.body_memory), context.request.holder(),
                                             bytes);
}

MemoryLimit& Dispatcher::body_memory(BodyMemory which) {
  switch (which) {
    case BodyMemory::sign_in:
      return sign_in_bodies_;
    case BodyMemory::agent:
      return agent_bodies_;
    case BodyMemory::general:
      break;
  }
  return small_bodies_;
}

std::string Dispatcher::network_of_peer(const std::string& peer) const {
  return proxies_.trusts(peer) ? std::string() : network_of(peer);
}

Result<Response> Dispatcher::handle(RequestContext& context) const {
  TraceScope scope(context.trace);
  TRY(authenticate(context));
  const auto& handler = context.handler ? context.handler : context.route->handler;
  return catch_exceptions<Response>([&] { return handler(context.request); });
}

Result<void> Dispatcher::admit(RequestContext& context) {
  TraceScope scope(context.trace);
  return catch_exceptions<void>([&]() -> Result<void> {
    if (context.route->admit) context.handler = TRY(context.route->admit(context.request));
    if (context.route->body == Body::stream) context.sink = TRY(context.route->open(context.request));
    return {};
  });
}

Result<void> Dispatcher::write(RequestContext& context, std::string_view bytes) {
  TraceScope scope(context.trace);
  return catch_exceptions<void>([&] { return context.sink->write(bytes); });
}

Result<Response> Dispatcher::finish(RequestContext& context) const {
  TraceScope scope(context.trace);
  TRY(authenticate(context));
  return catch_exceptions<Response>([&] { return context.sink->finish(); });
}

Result<std::size_t> Dispatcher::read(ResponseBody& source, std::span<char> into) {
  return catch_exceptions<std::size_t>([&] { return source.read(into); });
}

Result<Response> Dispatcher::finish_deferred(DeferredResponse& deferred) {
  return catch_exceptions<Response>([&] { return deferred.finish(); });
}

Response Dispatcher::refusal(const RequestContext& context, const Error& error) const {
  if (error.code == Code::internal || !error.detail.empty()) {
    bool is_server_error = info(error.code).http_status >= 500;
    log::write(is_server_error ? log::Level::error : log::Level::info, "request_failed",
               {{"request_id", context.request.request_id},
                {"method", context.request.method},
                {"path", context.request.path},
                {"error", info(error.code).word},
                {"message", error.message},
                {"detail", error.detail}});
  }
  return error_response(error);
}

void Dispatcher::add_headers(const RequestContext& context, Response& response) const {
  const auto& path = context.request.path;
  auto add = [&](const char* name, std::string value) {
    if (!response.headers.get(name)) response.headers.add(name, std::move(value));
  };
  add("X-Request-Id", context.request.request_id);
  add("traceparent", to_traceparent(context.trace));
  add("X-Content-Type-Options", "nosniff");
  if (path.starts_with("/api/")) add("Cache-Control", "no-store");
  if (path.starts_with("/console/") || path == "/api/docs") {
    add("Content-Security-Policy", std::string(kConsolePolicy));
    add("Referrer-Policy", "no-referrer");
    add("Cross-Origin-Opener-Policy", "same-origin");
    add("Cross-Origin-Resource-Policy", "same-origin");
  }
  // Clients of the setup routes take a challenge as the sign of another kind of server.
  if (response.status == 401 && !path.starts_with("/api/setup/")) add("WWW-Authenticate", "Bearer");
}

void Dispatcher::log_access(const RequestContext& context, int status, std::uint64_t bytes, bool cut) {
  const auto& request = context.request;
  auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(SystemClock().steady_now() - context.began);
  std::string_view method = context.head_only ? "HEAD" : std::string_view(request.method);
  // The client chooses unknown methods and paths, so all of them share one label.
  if (context.route) {
    count_request(method, context.route->pattern, status, took);
  } else {
    count_request("", "none", status, took);
  }
  log::info("request", {{"method", method},
                        {"path", request.path},
                        {"status", status},
                        {"ms", static_cast<double>(took.count()) / 1000.0},
                        {"bytes", bytes},
                        {"request_id", request.request_id},
                        {"trace_id", context.trace.trace_id},
                        {"client", request.client},
                        {"cut", cut}});
  if (spans_ && context.trace.is_sampled) spans_->add(span_of(context, method, status, took));
}

}  // namespace dash::daemon
