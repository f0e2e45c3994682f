#include "daemon/server/health_routes.hpp"

#include <array>
#include <utility>

#include "core/base/embedded.hpp"

namespace dash::daemon {
namespace {

std::string_view content_type_of(std::string_view path) {
  constexpr std::array kTypes = {
      std::pair<std::string_view, std::string_view>{".html", "text/html; charset=utf-8"},
      std::pair<std::string_view, std::string_view>{".js", "text/javascript; charset=utf-8"},
      std::pair<std::string_view, std::string_view>{".css", "text/css; charset=utf-8"},
      std::pair<std::string_view, std::string_view>{".svg", "image/svg+xml"},
      std::pair<std::string_view, std::string_view>{".yaml", "application/yaml"},
  };
  for (const auto& [ending, type] : kTypes)
    if (path.ends_with(ending)) return type;
  return "application/octet-stream";
}

Result<Response> file(const std::string& path) {
  auto bytes = embedded(path);
  if (!bytes) return fail(Code::not_found, "Not Found");
  return text_response(200, content_type_of(path), std::string(*bytes));
}

Result<Response> to_console(Request&) {
  auto response = text_response(307, "", "");
  response.headers.add("Location", "/console/");
  return response;
}

}  // namespace

void add_health_routes(std::vector<Route>& routes, Readiness& readiness,
                       std::function<std::string()> metrics_text) {
  auto health = [&](std::string pattern, Pool pool, Handler handler) {
    routes.push_back({.pattern = std::move(pattern),
                      .auth = Auth::anybody,
                      .handler = std::move(handler),
                      .pool = pool,
                      .is_health = true});
  };
  auto on_io = [&](std::string pattern, Handler handler) {
    routes.push_back({.pattern = std::move(pattern),
                      .auth = Auth::anybody,
                      .handler = std::move(handler),
                      .pool = Pool::io});
  };
  health("/livez", Pool::io, [](Request&) -> Result<Response> {
    return json_response(200, OrderedJson{{"alive", true}});
  });
  on_io("/metrics", [metrics_text = std::move(metrics_text)](Request&) -> Result<Response> {
    return text_response(200, "text/plain; version=0.0.4; charset=utf-8", metrics_text());
  });
  on_io("/openapi.yaml", [](Request&) { return file("daemon/openapi.yaml"); });
  on_io("/", to_console);
  on_io("/console/", [](Request&) { return file("daemon/console/index.html"); });
  on_io("/console/{file}", [](Request& request) { return file("daemon/console/" + request.param("file")); });
  health("/readyz", Pool::health,
         [&readiness](Request&) -> Result<Response> { return readiness.response(); });
}

}  // namespace dash::daemon
