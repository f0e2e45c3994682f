#include "core/base/shape.hpp"
#include "core/storage/storage.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<bool> flag(const Json& body, std::string_view name) {
  return TRY(optional_bool(body, name)).value_or(false);
}

Result<Response> migrate(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  storage::MigrateRequest migrate_request;
  migrate_request.source = TRY(required_string(body, "source"));
  migrate_request.target = TRY(required_string(body, "target"));
  migrate_request.overwrite = TRY(flag(body, "overwrite"));
  migrate_request.is_dry_run = TRY(flag(body, "dry_run"));
  NoProgress progress;
  return json_response(
      200, storage::to_json(TRY(app.storage.migration().run(principal, migrate_request, progress))));
}

Result<Response> verify(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  NoProgress progress;
  auto compared = TRY(app.storage.compare(principal, TRY(required_string(body, "source")),
                                          TRY(required_string(body, "target")), progress));
  return json_response(200, storage::to_json(compared));
}

Result<Response> sweep(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  auto backend = TRY(optional_string(body, "backend")).value_or("");
  auto hours = TRY(optional_int(body, "older_than_hours")).value_or(storage::kDefaultSweepAge.count());
  return json_response(
      200, storage::to_json(TRY(app.storage.sweep(principal, backend, std::chrono::hours(hours)))));
}

Result<Response> move(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  auto moved = TRY(app.storage.migration().move(
      principal, TRY(required_string(body, "name")), TRY(required_string(body, "from_backend")),
      TRY(required_string(body, "to_backend")), TRY(flag(body, "overwrite"))));
  return json_response(200, storage::to_json(moved));
}

Result<Response> remove_in(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  const auto& name = request.param("name");
  const auto& backend = request.param("backend");
  TRY(app.storage.assets().remove(principal, name, backend));
  return json_response(200, OrderedJson{{"ok", true}, {"deleted", name}, {"backend", backend}});
}

Result<Response> remove_many(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  auto items = body.find("items");
  if (items == body.end()) return missing_member("items");
  if (!items->is_array()) return wrong_type("items", "array");
  std::vector<storage::AssetRef> named;
  for (const auto& item : *items) {
    if (!item.is_object()) return wrong_type("items", "object");
    auto backend = TRY(required_string(item, "backend"));
    auto name = TRY(required_string(item, "name"));
    named.push_back({std::move(backend), std::move(name)});
  }
  return json_response(200, storage::to_json(TRY(app.storage.assets().remove_many(principal, named))));
}

}  // namespace

void add_migration_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back(store_route(app, "POST", "/api/storage/migrate", Auth::admin, migrate, Body::small));
  routes.push_back(store_route(app, "POST", "/api/storage/verify", Auth::admin, verify, Body::small));
  routes.push_back(store_route(app, "POST", "/api/storage/gc", Auth::admin, sweep, Body::small));
  routes.push_back(store_route(app, "POST", "/api/storage/move", Auth::admin, move, Body::small));
  routes.push_back(
      store_route(app, "POST", "/api/storage/bulk-delete", Auth::signed_in, remove_many, Body::small));
  routes.push_back(store_route(app, "DELETE", "/api/storage/asset-in/{backend}/{name...}", Auth::signed_in,
                               remove_in, Body::none));
}

}  // namespace dash::daemon
