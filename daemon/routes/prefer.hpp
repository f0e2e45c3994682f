// The Prefer header of RFC 7240, as far as a route honours it.
#pragma once
#include "daemon/http/http.hpp"

namespace dash::daemon {

// Returns whether the client would rather have a 202 at once than wait for the outcome.
bool prefers_async(const Request& request);

}  // namespace dash::daemon
