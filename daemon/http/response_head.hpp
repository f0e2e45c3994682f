// The header section of a response as bytes (RFC 9112 §4 to §6).
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "daemon/http/http.hpp"

namespace dash::daemon {

// How the end of the body is marked.
struct Framing {
  std::optional<std::uint64_t> length;  // Content-Length
  bool chunked = false;                 // else, without a length, the end of the connection ends the body
  std::string_view connection{};        // "close", or "keep-alive" for HTTP/1.0; empty: no header
};

bool status_has_body(int status);
// Headers whose name or value could end a line are left out.
std::string response_head(const Response& response, const Framing& framing);
std::string chunk_head(std::size_t size);

}  // namespace dash::daemon
