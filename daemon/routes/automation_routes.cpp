#include "core/automation/automation.hpp"
#include "core/storage/storage.hpp"
#include "daemon/routes/asset_listing.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> run(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto job = TRY(app.automation.run(principal, TRY(json_object(request))));
  return json_response(200, automation::run_to_json(job));
}

Result<Response> run_bulk(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  return json_response(
      200, automation::to_json(TRY(app.automation.run_bulk(principal, TRY(json_object(request))))));
}

Result<Response> deploy_compose(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto job = TRY(app.automation.deploy_compose(principal, TRY(json_object(request))));
  return json_response(200, automation::run_to_json(job));
}

Result<Response> playbook(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  return json_response(200, TRY(app.automation.playbook(principal, request.param("id"))));
}

Result<Response> assets(app::Application& app, const Request& request) {
  return list_all_assets(app.storage.assets(), request, false);
}

Result<Response> playbooks(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  return json_response(200, OrderedJson(TRY(app.automation.playbooks(principal))));
}

}  // namespace

void add_automation_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back(store_route(app, "POST", "/api/config-mgmt/run", Auth::signed_in, run, Body::small));
  routes.push_back(
      store_route(app, "POST", "/api/config-mgmt/run-bulk", Auth::signed_in, run_bulk, Body::small));
  routes.push_back(store_route(app, "POST", "/api/config-mgmt/compose-deploy", Auth::signed_in,
                               deploy_compose, Body::small));
  routes.push_back(store_route(app, "GET", "/api/jobs/{id}/playbook", Auth::signed_in, playbook, Body::none));
  routes.push_back(store_route(app, "GET", "/api/config-mgmt/assets", Auth::signed_in, assets, Body::none));
  routes.push_back(
      store_route(app, "GET", "/api/config-mgmt/playbooks", Auth::signed_in, playbooks, Body::none));
}

}  // namespace dash::daemon
