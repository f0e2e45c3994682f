#include "core/base/shape.hpp"
#include "core/storage/assets/migration_jobs.hpp"
#include "core/storage/storage.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/prefer.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

Result<bool> flag(const Json& body, std::string_view name) {
  return TRY(optional_bool(body, name)).value_or(false);
}

Result<storage::MigrateRequest> migrate_request(const Json& body) {
  storage::MigrateRequest out;
  out.source = TRY(required_string(body, "source"));
  out.target = TRY(required_string(body, "target"));
  out.overwrite = TRY(flag(body, "overwrite"));
  out.is_dry_run = TRY(flag(body, "dry_run"));
  auto limit = TRY(optional_int(body, "bwlimit")).value_or(0);
  if (limit < 0)
    return fail(Code::invalid, "bwlimit is a number of bytes a second, and {} is below 0; 0 is no limit",
                limit);
  out.bytes_per_second = static_cast<std::uint64_t>(limit);
  return out;
}

// A dry run makes no job, so there is nothing to answer before it.
Result<Response> migrate(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto wanted = TRY(migrate_request(TRY(json_object(request))));
  if (wanted.is_dry_run || !prefers_async(request))
    return json_response(200, TRY(app.migrations.run(principal, wanted, request.is_abandoned)));
  auto job = TRY(app.migrations.enqueue(principal, wanted));
  auto response = json_response(202, OrderedJson{{"job_id", job.id}, {"status", jobs::word(job.state)}});
  response.headers.add("Location", "/api/jobs/" + job.id);
  response.headers.add("Preference-Applied", "respond-async");
  return response;
}

Result<Response> verify(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  storage::CompareRequest wanted;
  wanted.source = TRY(required_string(body, "source"));
  wanted.target = TRY(required_string(body, "target"));
  wanted.is_download = TRY(flag(body, "download"));
  wanted.is_abandoned = request.is_abandoned;
  NoProgress progress;
  return json_response(200, storage::to_json(TRY(app.storage.compare(principal, wanted, progress))));
}

Result<Response> sweep(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  storage::SweepRequest order;
  order.backend = TRY(optional_string(body, "backend")).value_or("");
  order.age = std::chrono::hours(
      TRY(optional_int(body, "older_than_hours")).value_or(storage::kDefaultSweepAge.count()));
  order.is_applied = TRY(flag(body, "apply"));
  return json_response(200, storage::to_json(TRY(app.storage.sweep(principal, order))));
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
