// Holds routes to daemon/openapi.yaml, in debug and test builds: each answer of a handler must have a status and a
// body that the description has, and a request that goes against the description must not be answered with 2xx.
// What does not hold is answered with 500 and logged as contract.violation, so that description and code cannot
// drift. Schemas are read as JSON Schema draft 7, the newest that valijson 1.0 knows, so that daemon/openapi.yaml
// keeps to what draft 7 and OpenAPI 3.1 have in common. The only use of valijson.
#pragma once
#include <vector>

#include "daemon/http/route.hpp"

namespace dash::daemon {

// Returns the routes with handlers that are checked. A row without a description is left as it is.
std::vector<Route> check_contract(std::vector<Route> routes);

}  // namespace dash::daemon
