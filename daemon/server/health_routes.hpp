// The routes of the daemon itself: liveness, readiness, metrics, its API description and the console.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "daemon/http/route.hpp"
#include "daemon/server/readiness.hpp"

namespace dash::daemon {

void add_health_routes(std::vector<Route>& routes, Readiness& readiness,
                       std::function<std::string()> metrics_text);

}  // namespace dash::daemon
