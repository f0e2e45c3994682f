// Who makes a request: the bearer token of the head, a session's JWT or a personal access token, held against
// the rule of the route.
#pragma once
#include <optional>

#include "core/app/application.hpp"
#include "daemon/http/route.hpp"

namespace dash::daemon {

// What the dispatcher calls for every route that asks who calls. `app` must outlive it.
Authenticate make_authenticate(app::Application& app);

// The text behind "Bearer ", nullopt without one.
std::optional<std::string> bearer(const Request& request);

}  // namespace dash::daemon
