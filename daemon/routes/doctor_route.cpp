#include "daemon/routes/doctor_route.hpp"

namespace dash::daemon {

Route doctor_route(app::Doctor& doctor) {
  return {.pattern = "/api/doctor",
          .auth = Auth::admin,
          .handler = [&doctor](Request& r) -> Result<Response> {
            return json_response(200, TRY(doctor.report(r.caller())));
          },
          .pool = Pool::store};  // reads the whole audit log and calls every store
}

}  // namespace dash::daemon
