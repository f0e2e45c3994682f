#include "core/audit/anchor.hpp"
#include "core/audit/prove.hpp"
#include "core/audit/read.hpp"
#include "core/audit/verify.hpp"
#include "core/jobs/jobs.hpp"
#include "daemon/routes/params.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<std::optional<std::int64_t>> time_of(const Request& request, std::string_view name) {
  auto text = request.query.get(name);
  if (!text) return std::nullopt;
  return to_micros(TRY(within(name, parse_iso(*text))));
}

Result<Response> list(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  audit::EntryFilter filter;
  if (auto action = request.query.get("action")) filter.action = audit::canonical_filter(*action);
  filter.username = request.query.get("username");
  filter.target = request.query.get("target");
  filter.since = TRY(time_of(request, "since"));
  filter.until = TRY(time_of(request, "until"));
  filter.before = TRY(integer_query(request, "before"));
  filter.after = TRY(integer_query(request, "after"));
  filter.limit = TRY(integer_query(request, "limit")).value_or(filter.limit);
  return json_response(
      200, audit::to_json(TRY(audit::list(app.audit, principal, filter)), TRY(app.jobs.name_style())));
}

// A broken log is a result, not an error of this request.
Result<Response> verify(app::Application& app, const Request&) {
  return json_response(200, audit::to_json(TRY(audit::verify(app.audit, app.anchors.read()))));
}

// ?seq=N proves that entry N is in the log. ?from=SIZE proves that the log of that size is a prefix of this
// one.
Result<Response> prove(app::Application& app, const Request& request) {
  const auto& key = app.audit.keys().checkpoint.public_key;
  if (auto size = TRY(integer_query(request, "from")))
    return json_response(200, audit::to_json(TRY(audit::prove_consistency(app.audit, *size)), key));
  auto seq = TRY(integer_query(request, "seq"));
  if (!seq) return fail(Code::invalid, "give seq, the number of an entry, or from, the size of an older log");
  return json_response(200, audit::to_json(TRY(audit::prove_inclusion(app.audit, *seq)), key));
}

}  // namespace

void add_audit_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back(
      {.pattern = "/api/audit", .auth = Auth::admin, .handler = [&app](Request& r) { return list(app, r); }});
  routes.push_back({.pattern = "/api/audit/verify",
                    .auth = Auth::admin,
                    .handler = [&app](Request& r) { return verify(app, r); },
                    .pool = Pool::store});  // reads the whole log
  routes.push_back({.pattern = "/api/audit/prove",
                    .auth = Auth::admin,
                    .handler = [&app](Request& r) { return prove(app, r); },
                    .pool = Pool::store});
}

}  // namespace dash::daemon
