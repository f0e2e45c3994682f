#include "core/base/shape.hpp"
#include "core/setup/setup.hpp"
#include "core/storage/storage.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<Response> backends(app::Services& s, const Request&) {
  return json_response(200, TRY(s.storage.config().backends()));
}

Result<Response> show_config(app::Services& s, const Request& request) {
  return json_response(200, TRY(s.storage.config().show(request.caller())));
}

Result<Response> change_config(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  return json_response(200, setup::to_json(TRY(s.setup.change_storage(who, TRY(json_object(request))))));
}

Result<Response> test(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto body = TRY(json_object(request));
  auto backend = TRY(required_string(body, "backend"));
  if (TRY(optional_bool(body, "deep")).value_or(false))
    return json_response(200, storage::to_json(TRY(s.storage.deep_test(who, backend))));
  return json_response(200, storage::to_json(TRY(s.storage.assets().test(who, backend))));
}

Result<Response> list_active(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  return json_response(200, storage::to_json(TRY(s.storage.assets().list(who))));
}

Result<Response> list_named(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  return json_response(200, storage::to_json(TRY(s.storage.assets().list(who, request.param("backend")))));
}

Result<Response> list_all(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto items = OrderedJson::array();
  for (const auto& asset : TRY(s.storage.assets().list_all(who))) items.push_back(storage::to_json(asset));
  auto count = items.size();
  return json_response(200, OrderedJson{{"items", std::move(items)}, {"count", count}});
}

Result<Response> remove(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  const auto& name = request.param("name");
  TRY(s.storage.assets().remove(who, name));
  return json_response(200, OrderedJson{{"ok", true}, {"deleted", name}});
}

Result<Response> set_scope(app::Services& s, const Request& request) {
  const auto& who = request.caller();
  auto body = TRY(json_object(request));
  auto name = TRY(required_string(body, "name"));
  if (!body.contains("workgroup")) return missing_member("workgroup");
  auto asset = TRY(s.storage.assets().set_scope(who, TRY(optional_string(body, "backend")).value_or(""), name,
                                                TRY(optional_string(body, "workgroup"))));
  return json_response(200, OrderedJson{{"ok", true},
                                        {"backend", asset.backend},
                                        {"name", asset.name},
                                        {"workgroup", asset.workgroup ? OrderedJson(*asset.workgroup)
                                                                      : OrderedJson(nullptr)}});
}

}  // namespace

void add_storage_routes(std::vector<Route>& routes, app::Services& s) {
  routes.push_back({.pattern = "/api/storage/backends", .auth = Auth::signed_in, .handler = [&s](Request& r) {
                      return backends(s, r);
                    }});
  routes.push_back({.pattern = "/api/storage/config", .auth = Auth::signed_in, .handler = [&s](Request& r) {
                      return show_config(s, r);
                    }});
  routes.push_back({.method = "PATCH",
                    .pattern = "/api/storage/config",
                    .auth = Auth::admin,
                    .handler = [&s](Request& r) { return change_config(s, r); },
                    .body = Body::small,
                    .pool = Pool::store});
  routes.push_back({.method = "POST",
                    .pattern = "/api/storage/test",
                    .auth = Auth::admin,
                    .handler = [&s](Request& r) { return test(s, r); },
                    .body = Body::small,
                    .pool = Pool::store});
  routes.push_back({.pattern = "/api/storage/list",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return list_active(s, r); },
                    .pool = Pool::store});
  routes.push_back({.pattern = "/api/storage/list/{backend}",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return list_named(s, r); },
                    .pool = Pool::store});
  routes.push_back({.pattern = "/api/storage/list-all",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return list_all(s, r); },
                    .pool = Pool::store});
  routes.push_back({.method = "DELETE",
                    .pattern = "/api/storage/asset/{name...}",
                    .auth = Auth::signed_in,
                    .handler = [&s](Request& r) { return remove(s, r); },
                    .pool = Pool::store});
  routes.push_back({.method = "PUT",
                    .pattern = "/api/storage/scope",
                    .auth = Auth::admin,
                    .handler = [&s](Request& r) { return set_scope(s, r); },
                    .body = Body::small,
                    .pool = Pool::store});
}

}  // namespace dash::daemon
