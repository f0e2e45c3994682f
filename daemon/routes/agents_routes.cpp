// The agents as operators manage them: /api/agents. A prefix of its own, so that a proxy can publish /api/agent/
// alone.
#include "core/agent/dashboard/agents.hpp"
#include "daemon/routes/agent_signature.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> list(app::Application& app, const Request& request) {
  auto agents = OrderedJson::array();
  auto now = app.clock.now();
  for (const auto& agent : TRY(app.agents.list(request.caller()))) agents.push_back(to_json(agent, now));
  return json_response(200, OrderedJson{{"agents", agents}});
}

Result<Response> create(app::Application& app, const Request& request) {
  auto issued = TRY(app.agents.create(request.caller(), TRY(json_object(request)), request_origin(request)));
  return json_response(201, to_json(issued, app.clock.now()));
}

Result<Response> show(app::Application& app, const Request& request) {
  auto agent = TRY(app.agents.get(request.caller(), request.param("id")));
  return json_response(200, to_json(agent, app.clock.now()));
}

Result<Response> change(app::Application& app, const Request& request) {
  auto change = TRY(agent::read_agent_change(TRY(json_object(request))));
  auto agent = TRY(app.agents.change(request.caller(), request.param("id"), change));
  return json_response(200, to_json(agent, app.clock.now()));
}

Result<Response> revoke(app::Application& app, const Request& request) {
  return json_response(200, to_json(TRY(app.agents.revoke(request.caller(), request.param("id")))));
}

Result<Response> remove(app::Application& app, const Request& request) {
  TRY(app.agents.remove(request.caller(), request.param("id")));
  return json_response(200, OrderedJson{{"ok", true}});
}

Result<Response> reissue_code(app::Application& app, const Request& request) {
  auto issued = TRY(app.agents.reissue_code(request.caller(), request.param("id"), request_origin(request)));
  return json_response(200, to_json(issued, app.clock.now()));
}

Result<Response> audience(app::Application& app, const Request& request) {
  return json_response(200, to_json(TRY(app.agents.audience(request.caller()))));
}

Result<Response> reset_audience(app::Application& app, const Request& request) {
  return json_response(200, to_json(TRY(app.agents.reset_audience(request.caller()))));
}

Route operator_route(app::Application& app, const std::string& method, const std::string& pattern,
                     Result<Response> (*handler)(app::Application&, const Request&), Body body = Body::none) {
  return {.method = method,
          .pattern = pattern,
          .auth = Auth::admin,
          .handler = [&app, handler](Request& r) { return handler(app, r); },
          .body = body};
}

}  // namespace

void add_agents_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back(operator_route(app, "GET", "/api/agents", list));
  routes.push_back(operator_route(app, "POST", "/api/agents", create, Body::small));
  routes.push_back(operator_route(app, "GET", "/api/agents/audience", audience));
  routes.push_back(operator_route(app, "DELETE", "/api/agents/audience", reset_audience));
  routes.push_back(operator_route(app, "GET", "/api/agents/{id}", show));
  routes.push_back(operator_route(app, "PATCH", "/api/agents/{id}", change, Body::small));
  routes.push_back(operator_route(app, "DELETE", "/api/agents/{id}", revoke));
  routes.push_back(operator_route(app, "DELETE", "/api/agents/{id}/record", remove));
  routes.push_back(operator_route(app, "POST", "/api/agents/{id}/enrollment-code", reissue_code));
}

}  // namespace dash::daemon
