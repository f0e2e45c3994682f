#include "core/policy/tools/admission.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> describe(app::Services& s, const Request& request) {
  return json_response(200, TRY(policy::describe_admission(s.gate, s.engine, request.caller())));
}

Result<Response> check(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto question = TRY(policy::parse_check(TRY(json_object(request))));
  return json_response(200, TRY(policy::check_admission(s.gate, s.engine, s.clock, question, who)));
}

}  // namespace

void add_admission_routes(std::vector<Route>& routes, app::Services& s) {
  routes.push_back({.pattern = "/api/settings/admission",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return describe(s, r); },
                    .pool = Pool::policy});
  routes.push_back({.method = "POST",
                    .pattern = "/api/admission/check",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return check(s, r); },
                    .body = Body::small,
                    .pool = Pool::policy});
}

}  // namespace dash::daemon
