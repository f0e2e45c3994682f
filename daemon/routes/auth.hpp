// Finds the caller of a request by its bearer token, a session's JWT or a personal access token, and applies
// the rule of the route.
#pragma once
#include <optional>

#include "core/app/application.hpp"
#include "daemon/http/route.hpp"

namespace dash::daemon {

// Returns the function that the dispatcher calls for every route with a rule. `app` must outlive it.
Authenticate make_authenticate(app::Application& app);

// Returns the text behind "Bearer ", nullopt without one.
std::optional<std::string> bearer(const Request& request);

}  // namespace dash::daemon
