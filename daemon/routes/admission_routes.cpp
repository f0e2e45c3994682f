#include "core/policy/tools/admission.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> describe(app::Application& app, const Request& request) {
  return json_response(200, TRY(policy::describe_admission(app.gate, app.engine, request.caller())));
}

Result<Response> check(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto check_request = TRY(policy::parse_check_request(TRY(json_object(request))));
  return json_response(
      200, TRY(policy::check_admission(app.gate, app.engine, app.clock, check_request, principal)));
}

}  // namespace

void add_admission_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back({.pattern = "/api/settings/admission",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return describe(app, r); },
                    .pool = Pool::policy});
  routes.push_back({.method = "POST",
                    .pattern = "/api/admission/check",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return check(app, r); },
                    .body = Body::small,
                    .pool = Pool::policy});
}

}  // namespace dash::daemon
