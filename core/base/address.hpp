// Addresses of clients as text.
#pragma once
#include <string>
#include <string_view>

namespace dash {

// Returns the network of one subscriber: an IPv4 address as it is, of an IPv6 address its /64
// ("2001:db8:1:2::/64"). Any other text is returned as it is ("unix").
std::string network_of(std::string_view address);

}  // namespace dash
