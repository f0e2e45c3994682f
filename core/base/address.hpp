// Addresses of clients as text.
#pragma once
#include <string>
#include <string_view>

namespace dash {

// What one subscriber has: an IPv4 address as it is, of an IPv6 address its /64 ("2001:db8:1:2::/64"). Any
// other text stays as it is ("unix").
std::string network_of(std::string_view address);

}  // namespace dash
