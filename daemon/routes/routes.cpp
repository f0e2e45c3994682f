#include "daemon/routes/routes.hpp"

namespace dash::daemon {

std::vector<Route> all_routes(app::Services& services) {
  std::vector<Route> routes;
  add_setup_routes(routes, services);
  add_admission_routes(routes, services);
  add_account_routes(routes, services);
  add_user_routes(routes, services);
  add_token_routes(routes, services);
  add_vault_routes(routes, services);
  add_notification_routes(routes, services);
  add_deploy_routes(routes, services);
  add_job_routes(routes, services);
  add_feature_routes(routes, services);
  add_change_window_routes(routes, services);
  add_workgroup_routes(routes, services);
  add_audit_routes(routes, services);
  add_storage_routes(routes, services);
  add_migration_routes(routes, services);
  add_upload_routes(routes, services);
  add_automation_routes(routes, services);
  add_fetch_routes(routes, services);
  return routes;
}

}  // namespace dash::daemon
