// Retry-After, RFC 9110 §10.2.3: seconds, or a date that is compared with the answer's own Date.
#pragma once
#include <chrono>
#include <optional>

#include "core/net/http/http_client.hpp"

namespace dash::net {

// From nothing to a day, whatever a stranger writes; nullopt when it is not there or means nothing.
std::optional<std::chrono::seconds> retry_after(const Headers& headers);

}  // namespace dash::net
