#include "core/base/shape.hpp"
#include "core/images/image_jobs.hpp"
#include "core/images/images.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/chunked_routes.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

// 8,192 refs of 300 bytes.
constexpr std::uint64_t kMaxImageCommitBody = 4u << 20;

Result<Response> list_images(app::Application& app, const Request& request) {
  return json_response(200, images::to_json(TRY(app.images.list(request.caller()))));
}

Result<Response> remove_image(app::Application& app, const Request& request) {
  const auto& name = request.param("name");
  TRY(app.images.remove(request.caller(), name));
  return json_response(200, OrderedJson{{"ok", true}, {"deleted", name}});
}

Response job_response(const jobs::Job& job) {
  auto response = json_response(202, OrderedJson{{"job_id", job.id}, {"status", jobs::word(job.state)}});
  response.headers.add("Location", "/api/jobs/" + job.id);
  return response;
}

Result<Response> place_image(app::Application& app, const Request& request) {
  auto body = TRY(json_object(request));
  images::PlaceRequest wanted;
  wanted.name = TRY(required_string(body, "name"));
  auto source = body.find("source");
  if (source == body.end()) return missing_member("source");
  if (!source->is_object()) return wrong_type("source", "object");
  wanted.backend = TRY(required_string(*source, "backend"));
  wanted.key = TRY(required_string(*source, "key"));
  return job_response(TRY(app.image_jobs.enqueue(request.caller(), wanted)));
}

Result<Response> promote_image(app::Application& app, const Request& request) {
  auto cloud = TRY(required_string(TRY(json_object(request)), "cloud"));
  images::PromoteRequest wanted{request.param("name"), std::move(cloud)};
  return job_response(TRY(app.image_jobs.enqueue(request.caller(), wanted)));
}

}  // namespace

void add_image_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back(store_route(app, "GET", "/api/images", Auth::admin, list_images, Body::none));
  routes.push_back(store_route(app, "DELETE", "/api/images/{name}", Auth::admin, remove_image, Body::none));
  routes.push_back(store_route(app, "POST", "/api/images", Auth::admin, place_image, Body::small));
  routes.push_back(
      store_route(app, "POST", "/api/images/{name}/promote", Auth::admin, promote_image, Body::small));
  add_chunked_routes(routes, {.prefix = "/api/images/upload",
                              .uploads = app.images.uploads(),
                              .auth = Auth::admin,
                              .max_commit_body = kMaxImageCommitBody});
}

}  // namespace dash::daemon
