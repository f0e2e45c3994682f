// Who may read /metrics: a caller of this machine that came by no proxy, and an admin.
#pragma once
#include <functional>
#include <string>

#include "daemon/http/route.hpp"

namespace dash::daemon {

inline constexpr std::string_view kMetricsPath = "/metrics";

// Returns `authenticate`, but for the direct callers of /metrics, who need not sign in. `public_host` returns
// host and port of the address that users see, and does not block. Either may be empty.
Authenticate admit_scrapers(Authenticate authenticate, std::function<std::string()> public_host);

}  // namespace dash::daemon
