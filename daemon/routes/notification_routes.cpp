#include "core/setup/webhooks.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

// The events that webhooks can name: the seven of the deployed dashboards.
const OrderedJson kKnownEvents = {"config.drift",      "cost.budget_exceeded", "job.failed",
                                  "notification.test", "resource.expiring",    "resource.reaped",
                                  "secret.stale"};

Result<Response> list(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto webhooks = OrderedJson::array();
  for (const auto& webhook : TRY(app.webhooks.list(principal))) webhooks.push_back(setup::to_json(webhook));
  return json_response(200, OrderedJson{{"endpoints", webhooks},
                                        {"formats", {"custom", "slack", "teams"}},
                                        {"known_events", kKnownEvents}});
}

Result<Response> add(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto input = TRY(setup::read_webhook_input(TRY(json_object(request))));
  return json_response(200, setup::to_json(TRY(app.webhooks.add(principal, input))));
}

Result<Response> change(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto input = TRY(setup::read_webhook_input(TRY(json_object(request))));
  return json_response(200, setup::to_json(TRY(app.webhooks.change(principal, request.param("id"), input))));
}

Result<Response> remove(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  TRY(app.webhooks.remove(principal, request.param("id")));
  return json_response(200, OrderedJson{{"deleted", request.param("id")}});
}

}  // namespace

void add_notification_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back({.pattern = "/api/notifications/endpoints",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return list(app, r); }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/notifications/endpoints",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return add(app, r); },
                    .body = Body::small});
  routes.push_back({.method = "PATCH",
                    .pattern = "/api/notifications/endpoints/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return change(app, r); },
                    .body = Body::small});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/notifications/endpoints/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return remove(app, r); }});
}

}  // namespace dash::daemon
