#include "daemon/server/health_routes.hpp"

#include <utility>

#include "core/base/embedded.hpp"
#include "daemon/http/api_description.hpp"
#include "daemon/http/api_page.hpp"
#include "daemon/server/console.hpp"

namespace dash::daemon {
namespace {

Result<Response> openapi(Request&) {
  constexpr std::string_view kPath = "daemon/openapi.yaml";
  return text_response(200, content_type_of(kPath), std::string(embedded(kPath).value_or("")));
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
  health("/livez", Pool::io, [](Request&) -> Result<Response> {
    return json_response(200, OrderedJson{{"alive", true}});
  });
  // The one who serves admits scrapers of this machine besides (daemon/routes/scraper.hpp).
  routes.push_back({.pattern = "/metrics",
                    .auth = Auth::admin,
                    .handler = [metrics_text = std::move(metrics_text)](Request&) -> Result<Response> {
                      return text_response(200, "text/plain; version=0.0.4; charset=utf-8", metrics_text());
                    },
                    .pool = Pool::health});
  routes.push_back({.pattern = "/openapi.yaml", .auth = Auth::anybody, .handler = openapi, .pool = Pool::io});
  auto described = [&](std::string pattern, Handler handler) {
    routes.push_back({.pattern = std::move(pattern), .auth = Auth::anybody, .handler = std::move(handler)});
  };
  described("/api/openapi.json", [](Request&) -> Result<Response> {
    return text_response(200, "application/json", api_description_text());
  });
  described("/api/docs", [](Request&) -> Result<Response> {
    static const std::string page = render_api_page(api_description());
    return text_response(200, "text/html; charset=utf-8", page);
  });
  add_console_routes(routes);
  health("/readyz", Pool::health,
         [&readiness](Request&) -> Result<Response> { return readiness.response(); });
}

}  // namespace dash::daemon
