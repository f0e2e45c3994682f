// What agents call: /api/agent/*. All of it is 404 while remote_agents_enabled is off.
#include "core/agent/dashboard/agent_jobs.hpp"
#include "core/agent/dashboard/agent_requests.hpp"
#include "core/agent/dashboard/enrolment.hpp"
#include "core/agent/dashboard/job_secrets.hpp"
#include "core/automation/agent_release.hpp"
#include "core/storage/storage.hpp"
#include "daemon/routes/agent_signature.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/download.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

constexpr std::uint64_t kEnrolBody = 8u << 10, kLeaseBody = 16u << 10, kHeartbeatBody = 4u << 10,
                        kSecretBody = 4u << 10, kLogsBody = 4u << 20, kCompleteBody = 384u << 10;

// An empty body counts as {}.
Result<Json> agent_body(const Request& request) {
  return request.body.empty() ? Result<Json>(Json::object()) : json_object(request);
}

// A lease that waits for a job. Its agent may be revoked, or all agents switched off, meanwhile.
class LeaseWait final : public DeferredResponse {
 public:
  LeaseWait(app::Application& app, agent::Agent agent, std::unique_ptr<agent::WaitingLeases::Lease> lease,
            SteadyTime until)
      : app_(app), agent_(std::move(agent)), lease_(std::move(lease)), until_(until) {}

  SteadyTime wait(Wake wake) override {
    if (is_draining_ || lease_->wait(std::move(wake))) return SteadyTime();
    return until_;
  }
  void drain() override { is_draining_ = true; }
  Result<Response> finish() override {
    if (!TRY(agent::are_agents_enabled(app_.settings))) return fail(Code::not_found, "Not Found");
    return json_response(200, to_json(TRY(app_.agent_jobs.lease(agent_))));
  }

 private:
  app::Application& app_;
  const agent::Agent agent_;
  const std::unique_ptr<agent::WaitingLeases::Lease> lease_;
  const SteadyTime until_;
  std::atomic<bool> is_draining_ = false;
};

Result<Response> lease(app::Application& app, const agent::Agent& agent, Request& request) {
  auto body = TRY(agent::read_lease_request(TRY(agent_body(request))));
  TRY(app.agent_requests.store_report(agent, {body.agent_version, body.job_types, body.features}));
  // Entered before the queue is read: a job that comes in between is not missed.
  auto waiting =
      body.wait_s > 0 ? agent::WaitingLeases::enter(app.agent_jobs.waiting_leases(), agent.id) : nullptr;
  auto reply = TRY(app.agent_jobs.lease(agent));
  if (!waiting || !reply.job.is_null()) return json_response(200, to_json(reply));
  Response response;
  response.deferred = std::make_unique<LeaseWait>(app, agent, std::move(waiting),
                                                  app.clock.steady_now() + std::chrono::seconds(body.wait_s));
  return response;
}

Result<Response> heartbeat(app::Application& app, const agent::Agent& agent, Request& request) {
  auto body = TRY(agent::read_heartbeat(TRY(agent_body(request))));
  auto is_cancelled = TRY(app.agent_jobs.heartbeat(agent, request.param("id"), body));
  return json_response(200, OrderedJson{{"cancel_requested", is_cancelled}});
}

Result<Response> logs(app::Application& app, const agent::Agent& agent, Request& request) {
  auto lines = TRY(agent::read_log_lines(TRY(agent_body(request))));
  auto written = TRY(app.agent_jobs.add_logs(agent, request.param("id"), lines));
  return json_response(200, OrderedJson{{"written", written}});
}

Result<Response> complete(app::Application& app, const agent::Agent& agent, Request& request) {
  auto body = TRY(agent::read_completion(TRY(agent_body(request))));
  const auto& id = request.param("id");
  auto state = TRY(app.agent_jobs.complete(agent, id, body));
  return json_response(200, OrderedJson{{"job_id", id}, {"status", agent::word(state)}});
}

Result<Response> secret(app::Application& app, const agent::Agent& agent, Request& request) {
  auto body = TRY(agent::read_secret_request(TRY(agent_body(request))));
  auto response = json_response(200, TRY(app.agent_secrets.release(agent, request.param("id"), body)));
  response.headers.add("Cache-Control", "no-store");
  response.headers.add("Pragma", "no-cache");
  return response;
}

// Streams the asset of the run that this agent carries out.
Result<Response> asset(app::Application& app, const agent::Agent& agent, Request& request) {
  auto found =
      TRY(automation::find_released_asset(app.agent_jobs, app.storage.stores(), agent, request.param("id")));
  auto response = TRY(raw_download(std::move(found), {}, request, {app.buffers, app.clock}));
  response.headers.add("Cache-Control", "no-store");
  return response;
}

Result<Response> enrol(app::Application& app, const Request& request) {
  auto body = TRY(agent::read_enrol_request(TRY(agent_body(request))));
  return json_response(200, to_json(TRY(app.enrolment.enrol(body, request.client, request_origin(request)))));
}

Route enrol_route(app::Application& app) {
  Route route{.method = "POST", .pattern = "/api/agent/enroll", .auth = Auth::agent};
  route.body = Body::small;
  route.max_body = kEnrolBody;
  route.admit = [&app](Request& request) -> Result<Handler> {
    TRY(app.enrolment.admit(request.client));
    return Handler([&app](Request& whole) { return enrol(app, whole); });
  };
  return route;
}

}  // namespace

void add_agent_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back(enrol_route(app));
  routes.push_back(agent_route(app, "/api/agent/lease", kLeaseBody, lease));
  routes.push_back(agent_route(app, "/api/agent/jobs/{id}/heartbeat", kHeartbeatBody, heartbeat));
  routes.push_back(agent_route(app, "/api/agent/jobs/{id}/logs", kLogsBody, logs));
  routes.push_back(agent_route(app, "/api/agent/jobs/{id}/complete", kCompleteBody, complete));
  routes.push_back(agent_route(app, "/api/agent/jobs/{id}/secret", kSecretBody, secret));
  auto asset_route = agent_route(app, "/api/agent/jobs/{id}/asset", kSecretBody, asset);
  asset_route.pool = Pool::store;
  routes.push_back(std::move(asset_route));
}

}  // namespace dash::daemon
