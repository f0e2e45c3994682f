// sd_notify(3) in a few lines: tells the service manager where we are; nothing happens without NOTIFY_SOCKET.
#pragma once
#include <string_view>

namespace dash::daemon {

void notify_service_manager(std::string_view state);  // "READY=1", "STOPPING=1"

}  // namespace dash::daemon
