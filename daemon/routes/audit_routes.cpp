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

Result<Response> list(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  audit::Filter filter;
  if (auto action = request.query.get("action")) filter.action = audit::canonical_filter(*action);
  filter.username = request.query.get("username");
  filter.target = request.query.get("target");
  filter.since = TRY(time_of(request, "since"));
  filter.until = TRY(time_of(request, "until"));
  filter.before = TRY(integer_query(request, "before"));
  filter.after = TRY(integer_query(request, "after"));
  filter.limit = TRY(integer_query(request, "limit")).value_or(filter.limit);
  return json_response(200, audit::to_json(TRY(audit::list(s.audit, who, filter)), TRY(s.jobs.spelling())));
}

// A broken log is an answer, not an error of this request.
Result<Response> verify(app::Services& s, const Request&) {
  return json_response(200, audit::to_json(TRY(audit::verify(s.audit, s.anchors.read()))));
}

// ?seq=N: that entry N is in the log. ?from=SIZE: that the log of that size is a prefix of this one.
Result<Response> prove(app::Services& s, const Request& request) {
  const auto& key = s.audit.keys().checkpoint.public_key;
  if (auto size = TRY(integer_query(request, "from")))
    return json_response(200, audit::to_json(TRY(audit::prove_consistency(s.audit, *size)), key));
  auto seq = TRY(integer_query(request, "seq"));
  if (!seq) return fail(Code::invalid, "give seq, the number of an entry, or from, the size of an older log");
  return json_response(200, audit::to_json(TRY(audit::prove_inclusion(s.audit, *seq)), key));
}

}  // namespace

void add_audit_routes(std::vector<Route>& routes, app::Services& s) {
  routes.push_back(
      {.pattern = "/api/audit", .auth = Auth::admin, .handler = [&s](Request& r) { return list(s, r); }});
  routes.push_back({.pattern = "/api/audit/verify",
                    .auth = Auth::admin,
                    .handler = [&s](Request& r) { return verify(s, r); },
                    .pool = Pool::store});  // reads the whole log
  routes.push_back({.pattern = "/api/audit/prove",
                    .auth = Auth::admin,
                    .handler = [&s](Request& r) { return prove(s, r); },
                    .pool = Pool::store});
}

}  // namespace dash::daemon
