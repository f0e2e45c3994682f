#include "core/jobs/jobs.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/params.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

// "pending,running"
Result<std::vector<jobs::State>> states_of(const Request& request) {
  std::vector<jobs::State> out;
  auto text = request.query.get_or("status", "");
  for (std::string_view rest = text; !rest.empty();) {
    auto comma = rest.find(',');
    auto word = rest.substr(0, comma);
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
    if (word.empty()) continue;
    auto state = jobs::parse_state(word == "queued" ? "pending" : word);  // a word of the peer's
    if (!state) return fail(Code::invalid, "\"{}\" is not a status of a job", word);
    out.push_back(*state);
  }
  return out;
}

Result<Response> list_jobs(app::Services& s, const Request& request, std::vector<jobs::State> states) {
  const auto& who = request.caller();
  jobs::Listing listing;
  listing.states = std::move(states);
  listing.workgroup = request.query.get("workgroup");
  listing.batch_id = request.query.get("batch_id");
  listing.page = TRY(ranged_query(request, "page", listing.page, 1, jobs::kMaxPage));
  listing.page_size = TRY(ranged_query(request, "page_size", listing.page_size, 1, jobs::kMaxPageSize));
  listing.is_booked = request.query.get_or("scheduled", "") == "true";
  return json_response(200, jobs::to_json(TRY(s.jobs.list(who, listing)), listing, TRY(s.jobs.spelling())));
}

Result<Response> list(app::Services& s, const Request& request) {
  return list_jobs(s, request, TRY(states_of(request)));
}

Result<Response> list_waiting(app::Services& s, const Request& request) {
  return list_jobs(s, request, {jobs::State::awaiting_approval});
}

Result<Response> show(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  return json_response(200,
                       jobs::to_json(TRY(s.jobs.show(who, request.param("id"))), TRY(s.jobs.spelling())));
}

Result<Response> batch(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  return json_response(200, TRY(s.jobs.count_batch(who, request.param("id"))));
}

Result<Response> worker_status(app::Services& s, const Request& request) {
  return json_response(200, TRY(s.jobs.worker_status(request.caller())));
}

Result<Response> logs(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto after = TRY(integer_query(request, "after")).value_or(0);
  return json_response(200, jobs::to_json(TRY(s.jobs.logs(who, request.param("id"), after))));
}

Result<Response> cancel(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto job = TRY(s.jobs.cancel(who, request.param("id")));
  OrderedJson out;
  out["message"] = job.state == jobs::State::running ? "Asked to stop." : "Cancelled.";
  out["job_id"] = job.id;
  out["status"] = jobs::word(job.state);
  return json_response(200, out);
}

Result<Response> reject(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto body = request.body.empty() ? Json::object() : TRY(json_object(request));
  auto why = TRY(optional_string(body, "reason")).value_or("");
  auto digest = TRY(optional_string(body, "digest"));
  auto job = TRY(s.jobs.reject(who, request.param("id"), why, digest));
  return json_response(200, jobs::to_json(job, TRY(s.jobs.spelling())));
}

Result<Response> reschedule(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto body = request.body.empty() ? Json::object() : TRY(json_object(request));
  return json_response(200, jobs::schedule_json(TRY(s.jobs.reschedule(who, request.param("id"), body))));
}

// {"approves": "policy" | "booking"}; without it whatever the job waits for.
Result<jobs::Approve> approves(const Json& body) {
  auto what = TRY(optional_string(body, "approves")).value_or("");
  if (what.empty()) return jobs::Approve::all;
  if (what == "policy") return jobs::Approve::policy;
  if (what == "booking") return jobs::Approve::booking;
  return fail(Code::invalid, "approves is \"policy\" or \"booking\"");
}

Result<Response> approve(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto body = request.body.empty() ? Json::object() : TRY(json_object(request));
  auto digest = TRY(optional_string(body, "digest"));
  auto approved = TRY(s.jobs.approve(who, request.param("id"), TRY(approves(body)), digest));
  return json_response(200, jobs::to_json(approved));
}

}  // namespace

void add_job_routes(std::vector<Route>& routes, app::Services& s) {
  routes.push_back(
      {.pattern = "/api/jobs", .auth = Auth::signed_in, .handler = [&s](Request& r) { return list(s, r); }});
  routes.push_back({.pattern = "/api/jobs/batches/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return batch(s, r); }});
  routes.push_back({.pattern = "/api/worker/status", .auth = Auth::signed_in, .handler = [&s](Request& r) {
                      return worker_status(s, r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/jobs/{id}/reschedule",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return reschedule(s, r); },
                    .body = Body::small,
                    .pool = Pool::policy});
  routes.push_back({.pattern = "/api/jobs/{id}", .auth = Auth::signed_in, .handler = [&s](Request& r) {
                      return show(s, r);
                    }});
  routes.push_back(
      {.method = "DELETE", .pattern = "/api/jobs/{id}", .auth = Auth::signed_in, .handler = [&s](Request& r) {
         return cancel(s, r);
       }});
  routes.push_back({.pattern = "/api/jobs/{id}/logs", .auth = Auth::signed_in, .handler = [&s](Request& r) {
                      return logs(s, r);
                    }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/jobs/{id}/reject",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return reject(s, r); },
                    .body = Body::small});
  routes.push_back({.pattern = "/api/change-windows/approvals",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return list_waiting(s, r); }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/change-windows/approvals/{id}",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return approve(s, r); },
                    .body = Body::small,
                    .pool = Pool::policy});
}

}  // namespace dash::daemon
