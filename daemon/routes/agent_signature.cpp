#include "daemon/routes/agent_signature.hpp"

#include <algorithm>

#include "core/agent/dashboard/agent_requests.hpp"
#include "core/agent/protocol/request_signature.hpp"

namespace dash::daemon {
namespace {

constexpr std::size_t kMaxHostBytes = 255;

std::string header_or_empty(const Request& request, std::string_view name) {
  return request.header(name).value_or("");
}

agent::SignedHead signed_head(const Request& request) {
  return {request.method,
          request.path,
          header_or_empty(request, agent::kAgentIdHeader),
          header_or_empty(request, agent::kTimestampHeader),
          header_or_empty(request, agent::kNonceHeader),
          header_or_empty(request, agent::kSignatureHeader),
          request.client};
}

bool is_host(std::string_view host) {
  return !host.empty() && host.size() <= kMaxHostBytes && std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == ':' || c == '[' || c == ']';
  });
}

}  // namespace

Route agent_route(app::Application& app, const std::string& pattern, std::uint64_t max_body,
                  AgentHandler* handler) {
  Route route{.method = "POST", .pattern = pattern, .auth = Auth::agent};
  route.body = Body::small;
  route.max_body = max_body;
  route.admit = [&app, handler](Request& request) -> Result<Handler> {
    auto head = signed_head(request);
    auto admitted = TRY(app.agent_requests.admit(head));
    return Handler([&app, handler, head, admitted](Request& whole) -> Result<Response> {
      auto agent = TRY(app.agent_requests.accept(head, admitted, whole.body));
      return handler(app, agent, whole);
    });
  };
  return route;
}

// What a proxy says of the client's scheme counts when it is trusted, which shows in the client's address.
std::string request_origin(const Request& request) {
  auto host = header_or_empty(request, "Host");
  if (!is_host(host)) return "";
  bool is_proxied = request.client != request.peer;
  bool is_https = request.is_tls || (is_proxied && request.header("X-Forwarded-Proto") == "https");
  return fmt::format("{}://{}", is_https ? "https" : "http", host);
}

}  // namespace dash::daemon
