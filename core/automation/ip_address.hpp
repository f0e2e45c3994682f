// Addresses and networks of the Internet protocol. An IPv4 address has one form, however it was written: plain,
// decimal, hexadecimal, or as an IPv4-mapped IPv6 address.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace dash::automation {

struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};  // IPv4: the first 4
  bool is_v4 = false;

  bool operator==(const IpAddress&) const = default;
};

// Reads one address in its usual text; no name, no zone.
std::optional<IpAddress> parse_ip(std::string_view text);
std::string ip_text(const IpAddress& address);
// Returns whether the address is of this machine alone or of its own links: loopback, unspecified, link-local.
// An IPv6 address that carries an IPv4 address (compatible, NAT64, 6to4) counts as that one, too.
bool is_own_machine_or_link(const IpAddress& address);

struct IpNetwork {
  IpAddress address;
  int prefix = 0;  // bits

  bool contains(const IpAddress& other) const;
};
// Reads "10.0.0.0/8", or an address as a network of one.
std::optional<IpNetwork> parse_network(std::string_view text);

// Returns the addresses of a name or of any text that the system's resolver takes for an address
// ("2130706433", "0x7f.1"), without repetition. Code::invalid when there are none. Blocks.
Result<std::vector<IpAddress>> resolve_name(const std::string& name);

}  // namespace dash::automation
