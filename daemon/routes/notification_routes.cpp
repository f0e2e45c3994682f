#include "core/setup/endpoints.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

// What the dashboard tells of (the peer's seven).
const OrderedJson kKnownEvents = {"config.drift",      "cost.budget_exceeded", "job.failed",
                                  "notification.test", "resource.expiring",    "resource.reaped",
                                  "secret.stale"};

Result<Response> list(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto endpoints = OrderedJson::array();
  for (const auto& endpoint : TRY(s.endpoints.list(who))) endpoints.push_back(setup::to_json(endpoint));
  return json_response(200, OrderedJson{{"endpoints", endpoints},
                                        {"formats", {"custom", "slack", "teams"}},
                                        {"known_events", kKnownEvents}});
}

Result<Response> add(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto input = TRY(setup::endpoint_input(TRY(json_object(request))));
  return json_response(200, setup::to_json(TRY(s.endpoints.add(who, input))));
}

Result<Response> change(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto input = TRY(setup::endpoint_input(TRY(json_object(request))));
  return json_response(200, setup::to_json(TRY(s.endpoints.change(who, request.param("id"), input))));
}

Result<Response> remove(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  TRY(s.endpoints.remove(who, request.param("id")));
  return json_response(200, OrderedJson{{"deleted", request.param("id")}});
}

}  // namespace

void add_notification_routes(std::vector<Route>& routes, app::Services& s) {
  routes.push_back({.pattern = "/api/notifications/endpoints",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return list(s, r); }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/notifications/endpoints",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return add(s, r); },
                    .body = Body::small});
  routes.push_back({.method = "PATCH",
                    .pattern = "/api/notifications/endpoints/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return change(s, r); },
                    .body = Body::small});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/notifications/endpoints/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return remove(s, r); }});
}

}  // namespace dash::daemon
