// The ten gated routes and those of bulk deploys, in both spellings of the clouds. The body (or a teardown's
// query) is passed to jobs::submit unchanged.
#include "core/config/clouds.hpp"
#include "core/jobs/jobs.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

// The shape of the response in the deployed dashboards: a database and a cluster name what is made beside the
// job.
enum class ResponseShape { job, database, cluster };

struct GatedRoute {
  std::string_view action;
  std::string_view method;
  std::string_view path;  // after the cloud's name
  std::string_view cloud;
  ResponseShape shape = ResponseShape::job;
  bool is_bulk = false;
};

constexpr GatedRoute kGatedRoutes[] = {
    {"cloud1:vm:deploy", "POST", "/deploy", "cloud1"},
    {"cloud2:vm:deploy", "POST", "/deploy", "cloud2"},
    {"cloud3:vm:deploy", "POST", "/deploy", "cloud3"},
    {"cloud4:compute:deploy", "POST", "/deploy", "cloud4"},
    {"cloud1:vm:deploy", "POST", "/bulk-deploy", "cloud1", ResponseShape::job, true},
    {"cloud2:vm:deploy", "POST", "/bulk-deploy", "cloud2", ResponseShape::job, true},
    {"cloud3:vm:deploy", "POST", "/bulk-deploy", "cloud3", ResponseShape::job, true},
    {"cloud4:compute:deploy", "POST", "/bulk-deploy", "cloud4", ResponseShape::job, true},
    {"clouddb:provision", "POST", "/api/databases", "", ResponseShape::database},
    {"k8s:provision", "POST", "/api/k8s/clusters/provision", "", ResponseShape::cluster},
    {"cloud1:vm:destroy", "DELETE", "/instances/{resource}", "cloud1"},
    {"cloud2:vm:destroy", "DELETE", "/vms/{resource}", "cloud2"},
    {"cloud3:vm:destroy", "DELETE", "/instances/{resource}", "cloud3"},
    {"cloud4:compute:destroy", "DELETE", "/instances/{resource...}", "cloud4"},  // an OCID may hold a slash
};

Json query_object(const Request& request) {
  auto out = Json::object();
  for (const auto& [name, value] : request.query) out.emplace(name, value);
  return out;
}

Result<Response> submit(app::Application& app, const GatedRoute& gated, const Request& request) {
  const auto& principal = request.caller();
  jobs::Submission submission{std::string(gated.action), {}, request.param("resource"), gated.is_bulk};
  submission.body = gated.method == "DELETE" ? query_object(request) : TRY(json_object(request));
  auto submitted = TRY(app.jobs.submit(principal, submission));
  auto out = jobs::to_json(submitted);
  if (gated.shape == ResponseShape::job) return json_response(200, out);
  out["ok"] = true;
  out[gated.shape == ResponseShape::database ? "db_id" : "cluster_id"] = submitted.jobs.front().id;
  return json_response(gated.shape == ResponseShape::cluster ? 202 : 200, out);
}

}  // namespace

void add_deploy_routes(std::vector<Route>& routes, app::Application& app) {
  for (const auto& gated : kGatedRoutes) {
    auto add = [&](std::string pattern) {
      routes.push_back({.method = std::string(gated.method),
                        .pattern = std::move(pattern),
                        .auth = Auth::signed_in,
                        .handler = [&app, &gated](Request& r) { return submit(app, gated, r); },
                        .body = gated.method == "POST" ? Body::small : Body::none,
                        .pool = Pool::policy});
    };
    if (gated.cloud.empty()) {
      add(std::string(gated.path));
    } else {
      add(fmt::format("/api/{}{}", gated.cloud, gated.path));
      add(fmt::format("/api/{}{}", config::provider_cloud(gated.cloud), gated.path));
    }
  }
}

}  // namespace dash::daemon
