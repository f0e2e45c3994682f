#include "core/storage/storage.hpp"
#include "daemon/routes/download.hpp"
#include "daemon/routes/routes.hpp"

namespace dash::daemon {
namespace {

bool wants_raw(const Request& request) {
  auto raw = request.query.get_or("raw", "");
  if (!raw.empty()) return raw == "1" || raw == "true";
  return request.header("Accept") == "application/octet-stream";
}

// Reads its first bytes too when a buffer is free for them: a small asset costs the store one request.
Result<std::pair<storage::FindResult, storage::Prefetched>> find(app::Application& app,
                                                                 const Request& request,
                                                                 const Principal& principal,
                                                                 std::string_view backend,
                                                                 const std::string& name) {
  storage::Prefetched front;
  if (reads_from_start(request)) front.buffer = app.buffers.try_acquire({request.holder()});
  if (!front.buffer)
    return std::pair(TRY(app.storage.assets().find(principal, backend, name)), std::move(front));
  auto [found, size] = TRY(app.storage.assets().open(principal, backend, name, front.buffer.span()));
  front.size = size;
  return std::pair(std::move(found), std::move(front));
}

Result<Response> answer(app::Application& app, const Request& request, std::string_view backend,
                        const std::string& name) {
  auto find_it = [&] { return find(app, request, request.caller(), backend, name); };
  return download(find_it, wants_raw(request), request, {app.buffers, app.clock});
}

Result<Response> by_query(app::Application& app, const Request& request) {
  return answer(app, request, request.query.get_or("backend", ""), request.query.get_or("name", ""));
}

// The deployed dashboards' form has the backend before the name. A name alone is in the active backend. An
// asset whose first folder has the name of a backend is reached by the query form.
Result<Response> by_path(app::Application& app, const Request& request) {
  std::string_view rest = request.param("name");
  auto slash = rest.find('/');
  if (slash != rest.npos && storage::find_backend(rest.substr(0, slash)))
    return answer(app, request, rest.substr(0, slash), std::string(rest.substr(slash + 1)));
  return answer(app, request, request.query.get_or("backend", ""), std::string(rest));
}

}  // namespace

void add_fetch_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back({.pattern = "/api/storage/fetch",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return by_query(app, r); },
                    .pool = Pool::store});
  routes.push_back({.pattern = "/api/storage/fetch/{name...}",
                    .auth = Auth::signed_in,
                    .handler = [&app](Request& r) { return by_path(app, r); },
                    .pool = Pool::store});
}

}  // namespace dash::daemon
