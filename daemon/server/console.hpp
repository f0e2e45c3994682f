// The console: the files of daemon/console/, compiled into the binary, with the headers that keep a page from doing
// what it was not written for.
#pragma once
#include <string_view>
#include <vector>

#include "daemon/http/route.hpp"

namespace dash::daemon {

// Content-Security-Policy of the console: no inline script or style, no third host, no frame, and no text that becomes
// markup (Trusted Types).
inline constexpr std::string_view kConsolePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri "
    "'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

// Returns the media type of a path by its ending.
std::string_view content_type_of(std::string_view path);

// Adds `/`, `/console/` and the console's files. Each file has an ETag (RFC 9110 §8.8.3), so that a page that is opened
// again costs headers alone.
void add_console_routes(std::vector<Route>& routes);

}  // namespace dash::daemon
