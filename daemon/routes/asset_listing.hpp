// Listings of assets as responses. Used by storage_routes.cpp and automation_routes.cpp.
#pragma once
#include <optional>
#include <string>

#include "core/storage/assets/assets.hpp"
#include "daemon/http/http.hpp"

namespace dash::daemon {

// With `cursor` in the query (blank for the first page): one page and the cursor of the next. Without: everything in
// one document, which holds a page at a time in memory; an error after the first MiB cuts it. No backend: the
// active one.
Result<Response> list_assets(storage::Assets& assets, const Request& request,
                             std::optional<std::string> backend);
// The assets of every configured backend, a page at a time in memory: an array, or {items, count}.
Result<Response> list_all_assets(storage::Assets& assets, const Request& request, bool is_counted);

}  // namespace dash::daemon
