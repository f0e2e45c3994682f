// Every resource's rows of the route table. cmd/serve.cpp serves all_routes(); a test compares them with
// daemon/openapi.yaml.
#pragma once
#include <vector>

#include "core/app/application.hpp"
#include "daemon/http/route.hpp"

namespace dash::daemon {

void add_agent_routes(std::vector<Route>& routes, app::Application& app);
void add_agents_routes(std::vector<Route>& routes, app::Application& app);
void add_account_routes(std::vector<Route>& routes, app::Application& app);
void add_automation_routes(std::vector<Route>& routes, app::Application& app);
void add_audit_routes(std::vector<Route>& routes, app::Application& app);
void add_change_window_routes(std::vector<Route>& routes, app::Application& app);
void add_deploy_routes(std::vector<Route>& routes, app::Application& app);
void add_feature_routes(std::vector<Route>& routes, app::Application& app);
void add_image_routes(std::vector<Route>& routes, app::Application& app);
void add_job_routes(std::vector<Route>& routes, app::Application& app);
void add_fetch_routes(std::vector<Route>& routes, app::Application& app);
void add_admission_routes(std::vector<Route>& routes, app::Application& app);
void add_migration_routes(std::vector<Route>& routes, app::Application& app);
void add_notification_routes(std::vector<Route>& routes, app::Application& app);
void add_setup_routes(std::vector<Route>& routes, app::Application& app);
void add_state_routes(std::vector<Route>& routes, app::Application& app);
void add_storage_routes(std::vector<Route>& routes, app::Application& app);
void add_token_routes(std::vector<Route>& routes, app::Application& app);
void add_upload_routes(std::vector<Route>& routes, app::Application& app);
void add_user_routes(std::vector<Route>& routes, app::Application& app);
void add_vault_routes(std::vector<Route>& routes, app::Application& app);
void add_host_routes(std::vector<Route>& routes, app::Application& app);
void add_workgroup_routes(std::vector<Route>& routes, app::Application& app);

// Returns a row whose handler, a function of (Application&, Request&), waits for a store.
template <class Function>
Route store_route(app::Application& app, const std::string& method, const std::string& pattern, Auth auth,
                  Function* handler, Body body) {
  return {.method = method,
          .pattern = pattern,
          .auth = auth,
          .handler = [&app, handler](Request& r) { return handler(app, r); },
          .body = body,
          .pool = Pool::store};
}

std::vector<Route> all_routes(app::Application& app);

}  // namespace dash::daemon
