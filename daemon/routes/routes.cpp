#include "daemon/routes/routes.hpp"

namespace dash::daemon {

std::vector<Route> all_routes(app::Application& app) {
  std::vector<Route> routes;
  add_setup_routes(routes, app);
  add_admission_routes(routes, app);
  add_account_routes(routes, app);
  add_user_routes(routes, app);
  add_token_routes(routes, app);
  add_vault_routes(routes, app);
  add_host_routes(routes, app);
  add_notification_routes(routes, app);
  add_deploy_routes(routes, app);
  add_job_routes(routes, app);
  add_feature_routes(routes, app);
  add_change_window_routes(routes, app);
  add_workgroup_routes(routes, app);
  add_audit_routes(routes, app);
  add_state_routes(routes, app);
  add_storage_routes(routes, app);
  add_migration_routes(routes, app);
  add_upload_routes(routes, app);
  add_image_routes(routes, app);
  add_automation_routes(routes, app);
  add_fetch_routes(routes, app);
  add_agent_routes(routes, app);
  add_agents_routes(routes, app);
  return routes;
}

}  // namespace dash::daemon
