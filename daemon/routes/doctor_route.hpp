// GET /api/doctor: what the served instance finds about itself. Beside all_routes(), because the checks need what the
// instance was opened with.
#pragma once
#include "core/app/doctor.hpp"
#include "daemon/http/route.hpp"

namespace dash::daemon {

// `doctor` must outlive the route.
Route doctor_route(app::Doctor& doctor);

}  // namespace dash::daemon
