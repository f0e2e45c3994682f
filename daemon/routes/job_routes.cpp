#include <algorithm>

#include "core/jobs/jobs.hpp"
#include "daemon/routes/auth.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/event_stream.hpp"
#include "daemon/routes/list_events.hpp"
#include "daemon/routes/log_stream.hpp"
#include "daemon/routes/params.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

// Parses "pending,running".
Result<std::vector<jobs::State>> states_of(const Request& request) {
  std::vector<jobs::State> out;
  auto text = request.query.get_or("status", "");
  for (std::string_view rest = text; !rest.empty();) {
    auto comma = rest.find(',');
    auto word = rest.substr(0, comma);
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    if (word.empty()) continue;
    auto state = jobs::parse_state(word == "queued" ? "pending" : word);  // a word of the deployed dashboards
    if (!state) return fail(Code::invalid, "'{}' is not a status of a job", word);
    out.push_back(*state);
  }
  return out;
}

Result<Response> list_jobs(app::Application& app, const Request& request, std::vector<jobs::State> states) {
  const auto& principal = request.caller();
  jobs::JobQuery listing;
  listing.states = std::move(states);
  listing.workgroup = request.query.get("workgroup");
  listing.batch_id = request.query.get("batch_id");
  listing.page = TRY(ranged_query(request, "page", listing.page, 1, jobs::kMaxPage));
  listing.page_size = TRY(ranged_query(request, "page_size", listing.page_size, 1, jobs::kMaxPageSize));
  listing.is_scheduled = request.query.get_or("scheduled", "") == "true";
  return json_response(
      200, jobs::to_json(TRY(app.jobs.list(principal, listing)), listing, TRY(app.jobs.name_style())));
}

Result<Response> list(app::Application& app, const Request& request) {
  return list_jobs(app, request, TRY(states_of(request)));
}

Result<Response> list_awaiting_approval(app::Application& app, const Request& request) {
  return list_jobs(app, request, {jobs::State::awaiting_approval});
}

Result<Response> show(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  return json_response(
      200, jobs::to_json(TRY(app.jobs.show(principal, request.param("id"))), TRY(app.jobs.name_style())));
}

Result<Response> batch(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  return json_response(200, TRY(app.jobs.count_batch(principal, request.param("id"))));
}

Result<Response> worker_status(app::Application& app, const Request& request) {
  return json_response(200, TRY(app.jobs.worker_status(request.caller())));
}

Result<Response> logs(app::Application& app, const std::shared_ptr<jobs::LogWatcher>& watcher,
                      const Request& request) {
  const auto& principal = request.caller();
  auto after = TRY(integer_query(request, "after")).value_or(0);
  if (TRY(flag_query(request, "follow")))
    return stream_log(app, watcher, make_authenticate(app), request,
                      std::max<std::int64_t>(0, TRY(last_event_id(request)).value_or(after)));
  return json_response(200, jobs::to_json(TRY(app.jobs.logs(principal, request.param("id"), after))));
}

Result<Response> cancel(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto job = TRY(app.jobs.cancel(principal, request.param("id")));
  OrderedJson out;
  out["message"] = job.state == jobs::State::running ? "Asked to stop." : "Cancelled.";
  out["job_id"] = job.id;
  out["status"] = jobs::word(job.state);
  return json_response(200, out);
}

Result<Response> reject(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = request.body.empty() ? Json::object() : TRY(json_object(request));
  auto reason = TRY(optional_string(body, "reason")).value_or("");
  auto digest = TRY(optional_string(body, "digest"));
  auto job = TRY(app.jobs.reject(principal, request.param("id"), reason, digest));
  return json_response(200, jobs::to_json(job, TRY(app.jobs.name_style())));
}

Result<Response> reschedule(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = request.body.empty() ? Json::object() : TRY(json_object(request));
  return json_response(200,
                       jobs::schedule_json(TRY(app.jobs.reschedule(principal, request.param("id"), body))));
}

// Reads {"approves": "policy" | "booking" | "plan"}; without it everything that the job waits for.
Result<jobs::ApprovalKind> approves(const Json& body) {
  auto what = TRY(optional_string(body, "approves")).value_or("");
  if (what.empty()) return jobs::ApprovalKind::all;
  if (what == "policy") return jobs::ApprovalKind::policy;
  if (what == "booking") return jobs::ApprovalKind::booking;
  if (what == "plan") return jobs::ApprovalKind::plan;
  return fail(Code::invalid, "approves is 'policy', 'booking' or 'plan'");
}

Result<Response> approve(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = request.body.empty() ? Json::object() : TRY(json_object(request));
  auto digest = TRY(optional_string(body, "digest"));
  auto approved = TRY(app.jobs.approve(principal, request.param("id"), TRY(approves(body)), digest));
  return json_response(200, jobs::to_json(approved));
}

}  // namespace

void add_job_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back({.pattern = "/api/jobs", .auth = Auth::signed_in, .handler = [&app](Request& r) {
                      return list(app, r);
                    }});
  routes.push_back({.pattern = "/api/jobs/batches/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return batch(app, r); }});
  routes.push_back({.pattern = "/api/worker/status", .auth = Auth::signed_in, .handler = [&app](Request& r) {
                      return worker_status(app, r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/jobs/{id}/reschedule",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return reschedule(app, r); },
                    .body = Body::small,
                    .pool = Pool::policy});
  routes.push_back({.pattern = "/api/jobs/{id}", .auth = Auth::signed_in, .handler = [&app](Request& r) {
                      return show(app, r);
                    }});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/jobs/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return cancel(app, r); }});
  routes.push_back({.pattern = "/api/jobs/{id}/logs",
                    .auth = Auth::signed_in,
                    .handler = [&app, watcher = std::make_shared<jobs::LogWatcher>(app.sql)](Request& r) {
                      return logs(app, watcher, r);
                    }});
  routes.push_back({.pattern = "/api/events",
                    .auth = Auth::signed_in,
                    .handler = [&app, watcher = std::make_shared<db::ChangeWatcher>(app.sql)](Request& r) {
                      return stream_lists(app, watcher, make_authenticate(app), r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/jobs/{id}/reject",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return reject(app, r); },
                    .body = Body::small});
  routes.push_back({.pattern = "/api/change-windows/approvals",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return list_awaiting_approval(app, r); }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/change-windows/approvals/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return approve(app, r); },
                    .body = Body::small,
                    .pool = Pool::policy});
}

}  // namespace dash::daemon
