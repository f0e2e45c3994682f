// Dates of HTTP (RFC 9110 §5.6.7, the preferred form alone: "Fri, 03 Jul 2026 14:00:00 GMT").
#pragma once
#include <optional>
#include <string>

#include "core/base/clock.hpp"

namespace dash::net {

std::optional<Time> parse_http_date(const std::string& text);
std::string format_http_date(Time time);

}  // namespace dash::net
