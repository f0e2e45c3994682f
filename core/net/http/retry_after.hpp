// Retry-After, RFC 9110 §10.2.3: seconds, or a date, which is compared with the response's own Date.
#pragma once
#include <chrono>
#include <optional>

#include "core/net/http/http_client.hpp"

namespace dash::net {

// Returns 0 seconds to a day, whatever the server writes; nullopt when the header is absent or malformed.
std::optional<std::chrono::seconds> retry_after(const Headers& headers);

}  // namespace dash::net
