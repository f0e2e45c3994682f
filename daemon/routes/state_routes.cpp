#include "core/storage/storage.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> list_states(app::Application& app, const Request& request) {
  return json_response(200, storage::to_json(TRY(app.storage.states().list(request.caller()))));
}

Result<Response> show_state(app::Application& app, const Request& request) {
  auto& states = app.storage.states();
  return json_response(200, storage::show_json(TRY(states.show(request.caller(), request.param("job")))));
}

Result<Response> state_history(app::Application& app, const Request& request) {
  auto& states = app.storage.states();
  return json_response(200, storage::to_json(TRY(states.history(request.caller(), request.param("job")))));
}

Result<Response> unlock_state(app::Application& app, const Request& request) {
  const auto& job = request.param("job");
  std::string id(request.query.get_or("id", ""));
  TRY(app.storage.states().unlock(request.caller(), job, id));
  return json_response(200, OrderedJson{{"ok", true}, {"job", job}, {"id", id}});
}

}  // namespace

void add_state_routes(std::vector<Route>& routes, app::Application& app) {
  constexpr auto kState = "/api/storage/state/{job}";
  routes.push_back(store_route(app, "GET", "/api/storage/state", Auth::admin, list_states, Body::none));
  routes.push_back(store_route(app, "GET", kState, Auth::admin, show_state, Body::none));
  routes.push_back(
      store_route(app, "GET", "/api/storage/state/{job}/history", Auth::admin, state_history, Body::none));
  routes.push_back(
      store_route(app, "DELETE", "/api/storage/state/{job}/lock", Auth::admin, unlock_state, Body::none));
}

}  // namespace dash::daemon
