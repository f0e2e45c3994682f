// Reads what the query of a request that changes settings confirms about infrastructure state.
#pragma once
#include "core/setup/live_state.hpp"
#include "daemon/http/http.hpp"

namespace dash::daemon {

// Reads migrate_iac_state (a Python dashboard's migrate_terraform_state), abandon_iac_state and each
// overwrite_iac_state.
// Code::validation for a value that is no boolean.
Result<setup::StateOptions> state_query(const Request& request);

}  // namespace dash::daemon
