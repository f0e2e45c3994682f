#include "core/base/shape.hpp"
#include "core/setup/config_service.hpp"
#include "core/storage/storage.hpp"
#include "daemon/routes/asset_listing.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> backends(app::Application& app, const Request& request) {
  return json_response(200, TRY(app.storage.backends(request.caller())));
}

Result<Response> show_config(app::Application& app, const Request& request) {
  return json_response(200, TRY(app.storage.config().show(request.caller())));
}

Result<Response> change_config(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  return json_response(
      200, setup::to_json(TRY(app.config_service.change_storage(principal, TRY(json_object(request))))));
}

Result<Response> test(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  auto backend = TRY(required_string(body, "backend"));
  if (TRY(optional_bool(body, "deep")).value_or(false))
    return json_response(200, storage::to_json(TRY(app.storage.deep_test(principal, backend))));
  return json_response(200, storage::to_json(TRY(app.storage.assets().test(principal, backend))));
}

Result<Response> list_active(app::Application& app, const Request& request) {
  return list_assets(app.storage.assets(), request, std::nullopt);
}

Result<Response> list_named(app::Application& app, const Request& request) {
  return list_assets(app.storage.assets(), request, request.param("backend"));
}

Result<Response> list_all(app::Application& app, const Request& request) {
  return list_all_assets(app.storage.assets(), request, true);
}

Result<Response> remove(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  const auto& name = request.param("name");
  TRY(app.storage.assets().remove(principal, name));
  return json_response(200, OrderedJson{{"ok", true}, {"deleted", name}});
}

Result<Response> set_scope(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  auto name = TRY(required_string(body, "name"));
  if (!body.contains("workgroup")) return missing_member("workgroup");
  auto asset =
      TRY(app.storage.assets().set_scope(principal, TRY(optional_string(body, "backend")).value_or(""), name,
                                         TRY(optional_string(body, "workgroup"))));
  return json_response(200, OrderedJson{{"ok", true},
                                        {"backend", asset.backend},
                                        {"name", asset.name},
                                        {"workgroup", asset.workgroup ? OrderedJson(*asset.workgroup)
                                                                      : OrderedJson(nullptr)}});
}

}  // namespace

void add_storage_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back({.pattern = "/api/storage/backends",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return backends(app, r); }});
  routes.push_back({.pattern = "/api/storage/config", .auth = Auth::signed_in, .handler = [&app](Request& r) {
                      return show_config(app, r);
                    }});
  routes.push_back({.method = "PATCH",
                    .pattern = "/api/storage/config",
                    .auth = Auth::admin,
                    .handler = [&app](Request& r) { return change_config(app, r); },
                    .body = Body::small,
                    .pool = Pool::store});
  routes.push_back({.method = "POST",
                    .pattern = "/api/storage/test",
                    .auth = Auth::admin,
                    .handler = [&app](Request& r) { return test(app, r); },
                    .body = Body::small,
                    .pool = Pool::store});
  routes.push_back({.pattern = "/api/storage/list",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return list_active(app, r); },
                    .pool = Pool::store,
                    .is_short_now = [&app] { return app.storage.stores().is_folder_active(); }});
  routes.push_back({.pattern = "/api/storage/list/{backend}",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return list_named(app, r); },
                    .pool = Pool::store});
  routes.push_back({.pattern = "/api/storage/list-all",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return list_all(app, r); },
                    .pool = Pool::store});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/storage/asset/{name...}",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return remove(app, r); },
                    .pool = Pool::store});
  routes.push_back({.method = "PUT",
                    .pattern = "/api/storage/scope",
                    .auth = Auth::admin,
                    .handler = [&app](Request& r) { return set_scope(app, r); },
                    .body = Body::small,
                    .pool = Pool::store});
}

}  // namespace dash::daemon
