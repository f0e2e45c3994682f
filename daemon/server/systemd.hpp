// sd_notify(3) in a few lines: reports the daemon's state to the service manager. Without NOTIFY_SOCKET it
// does nothing.
#pragma once
#include <string_view>

namespace dash::daemon {

void notify_service_manager(std::string_view state);  // "READY=1", "STOPPING=1"

}  // namespace dash::daemon
