#include "daemon/http/direct.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/text.hpp"

namespace dash::daemon {
namespace {

// The name of a Host without port and case. A replica's own port says nothing: a proxy may keep it.
std::string name_of(std::string_view host) {
  auto colon = host.rfind(':');
  if (colon != host.npos && host.find(']', colon) == host.npos) host = host.substr(0, colon);
  if (host.ends_with('.')) host.remove_suffix(1);
  return lower(host);
}

bool is_of_a_proxy(std::string_view header) {
  constexpr std::array<std::string_view, 3> kNames = {"forwarded", "x-real-ip", "via"};
  auto name = lower(header);
  return name.starts_with("x-forwarded-") || std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace

bool is_direct(const Request& request, std::string_view public_host) {
  bool is_here = request.peer == "unix" || request.peer == "::1" || request.peer.starts_with("127.");
  if (!is_here) return false;
  for (const auto& [name, value] : request.headers)
    if (is_of_a_proxy(name)) return false;
  auto host = request.header("Host");
  return public_host.empty() || !host || name_of(*host) != name_of(public_host);
}

}  // namespace dash::daemon
