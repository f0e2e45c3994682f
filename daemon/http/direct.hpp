// Whether a request came from this machine itself, for what no proxy may show.
#pragma once
#include <string_view>

#include "daemon/http/http.hpp"

namespace dash::daemon {

// Its peer is a loopback address or a Unix socket, no proxy wrote a header that names it (RFC 7239, RFC 9110
// §7.6.3 and their forerunners), and Host is not the name of `public_host`: "dash.example:8443", blank when
// there is none.
bool is_direct(const Request& request, std::string_view public_host);

}  // namespace dash::daemon
