#include "core/images/images.hpp"
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

}  // namespace

void add_image_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back(store_route(app, "GET", "/api/images", Auth::admin, list_images, Body::none));
  routes.push_back(store_route(app, "DELETE", "/api/images/{name}", Auth::admin, remove_image, Body::none));
  add_chunked_routes(routes, {.prefix = "/api/images/upload",
                              .uploads = app.images.uploads(),
                              .auth = Auth::admin,
                              .max_commit_body = kMaxImageCommitBody});
}

}  // namespace dash::daemon
