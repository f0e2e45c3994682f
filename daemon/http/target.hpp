// Request targets after RFC 9112 §3.2, strictly: what is not plainly right is refused. Only escapes of
// unreserved characters are normalised, as every reader of RFC 3986 may; of more, two readers (a proxy and
// this server) could see two paths. Used by the server and by form bodies.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "daemon/http/http.hpp"

namespace dash::daemon {

struct RequestTarget {
  std::string path;  // starts with '/', reserved characters still encoded
  Fields query;
};

// Accepts origin form, or absolute form, whose authority is dropped. Returns nullopt for a bad escape, a
// control character, a space, '#', a "." or ".." segment (plain or escaped), a NUL, or what is not UTF-8: not
// every database keeps it, so that answers would differ.
std::optional<RequestTarget> parse_target(std::string_view target);

// Parses "a=1&b=%20". Returns nullopt for a bad escape or an escaped NUL.
std::optional<Fields> parse_fields(std::string_view text);

}  // namespace dash::daemon
