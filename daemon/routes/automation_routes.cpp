#include "core/automation/automation.hpp"
#include "core/storage/storage.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> run(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto job = TRY(s.automation.run(who, TRY(json_object(request))));
  return json_response(200, automation::run_to_json(job));
}

Result<Response> run_bulk(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  return json_response(200, automation::to_json(TRY(s.automation.run_bulk(who, TRY(json_object(request))))));
}

Result<Response> assets(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto items = OrderedJson::array();
  for (const auto& asset : TRY(s.storage.assets().list_all(who))) items.push_back(storage::to_json(asset));
  return json_response(200, items);
}

Result<Response> playbooks(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  return json_response(200, OrderedJson(TRY(s.automation.playbooks(who))));
}

}  // namespace

void add_automation_routes(std::vector<Route>& routes, app::Services& s) {
  auto add = [&](std::string method, std::string pattern, auto* handler, Body body) {
    routes.push_back(store_route(s, std::move(method), std::move(pattern), Auth::signed_in, handler, body));
  };
  add("POST", "/api/config-mgmt/run", run, Body::small);
  add("POST", "/api/config-mgmt/run-bulk", run_bulk, Body::small);
  add("GET", "/api/config-mgmt/assets", assets, Body::none);
  add("GET", "/api/config-mgmt/playbooks", playbooks, Body::none);
}

}  // namespace dash::daemon
