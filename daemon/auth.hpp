// Who makes a request: the bearer token of the head, a session's JWT or a personal access token.
#pragma once
#include <optional>

#include "core/app/services.hpp"
#include "core/identity/principal.hpp"
#include "daemon/http.hpp"

namespace dash::daemon {

// A session or a token. Code::unauthenticated otherwise.
Result<identity::Principal> signed_in(app::Services& services, const Request& request);
Result<identity::Principal> admin(app::Services& services, const Request& request);

// The setup routes decide for themselves: a session only, and before the instance is set up nobody (nullopt).
// A personal access token is refused like any other text that is no session.
Result<std::optional<identity::Principal>> setup_caller(app::Services& services, const Request& request);

// The text behind "Bearer ", nullopt without one.
std::optional<std::string> bearer(const Request& request);

}  // namespace dash::daemon
