// Request targets after RFC 9112 §3.2, strictly: what is not plainly right is refused, nothing is normalised,
// since two readers that normalise differently (a proxy and we) would see two paths. Used by the server and
// by form bodies.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "daemon/http/http.hpp"

namespace dash::daemon {

struct RequestTarget {
  std::string path;  // starts with '/', still encoded
  Fields query;
};

// Origin form, or absolute form whose authority is dropped. nullopt: bad escape, control character, space,
// '#', a "." or ".." segment (plain or escaped), a NUL.
std::optional<RequestTarget> parse_target(std::string_view target);

// "a=1&b=%20"; nullopt for a bad escape or an escaped NUL.
std::optional<Fields> parse_fields(std::string_view text);

}  // namespace dash::daemon
