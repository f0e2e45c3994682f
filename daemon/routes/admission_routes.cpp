#include "core/jobs/jobs.hpp"
#include "core/policy/tools/admission.hpp"
#include "core/policy/tools/rule_change.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/params.hpp"
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

// A blank filter of a form filters nothing.
std::optional<std::string> text_query(const Request& request, std::string_view name) {
  auto text = request.query.get(name);
  return text && !text->empty() ? text : std::nullopt;
}

Result<std::optional<Time>> time_query(const Request& request, std::string_view name) {
  auto text = text_query(request, name);
  if (!text) return std::nullopt;
  return TRY(within(name, parse_iso(*text)));
}

Result<std::optional<policy::Verdict>> verdict_query(const Request& request) {
  auto text = text_query(request, "verdict");
  if (!text) return std::nullopt;
  for (auto verdict : {policy::Verdict::allow, policy::Verdict::deny, policy::Verdict::needs_approval})
    if (*text == policy::word(verdict)) return verdict;
  return fail(Code::invalid, "verdict is allow, deny or needs_approval");
}

Result<Response> list_decisions(app::Application& app, const Request& request) {
  policy::DecisionFilter filter;
  if (auto action = text_query(request, "action")) filter.action = config::canonical_action(*action);
  filter.username = text_query(request, "actor");
  filter.workgroup = text_query(request, "workgroup");
  filter.verdict = TRY(verdict_query(request));
  filter.since = TRY(time_query(request, "since"));
  filter.until = TRY(time_query(request, "until"));
  filter.is_dry_run = TRY(flag_query(request, "dry_run"));
  filter.page = TRY(ranged_query(request, "page", filter.page, 1, policy::kMaxDecisionPage));
  filter.page_size =
      TRY(ranged_query(request, "page_size", filter.page_size, 1, policy::kMaxDecisionPageSize));
  auto page = TRY(app.decisions.list(request.caller(), filter));
  return json_response(200, policy::to_json(page, filter, TRY(app.jobs.name_style())));
}

Result<Response> diff(policy::RuleChanges& changes, const Request& request) {
  auto body = TRY(json_object(request));
  policy::RuleChange change;
  change.rule_id = TRY(required_string(body, "rule_id"));
  change.text = TRY(required_string(body, "text"));
  return json_response(200, policy::to_json(change, TRY(changes.evaluate(request.caller(), change))));
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
  routes.push_back({.pattern = "/api/admission/decisions",
                    .auth = Auth::admin,
                    .handler = [&app](Request& r) { return list_decisions(app, r); }});
  auto changes = std::make_shared<policy::RuleChanges>(app.engine, app.decisions);
  routes.push_back({.method = "POST",
                    .pattern = "/api/admission/diff",
                    .auth = Auth::admin_session,
                    .handler = [changes](Request& r) { return diff(*changes, r); },
                    .body = Body::small,
                    .pool = Pool::store});  // may take some seconds
}

}  // namespace dash::daemon
