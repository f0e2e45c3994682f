#include "core/automation/ip_address.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>

namespace dash::automation {
namespace {

constexpr int kBitsV4 = 32, kBitsV6 = 128;

struct AddressListDeleter {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

IpAddress address_v4(const void* four) {
  IpAddress out;
  out.is_v4 = true;
  std::memcpy(out.bytes.data(), four, 4);
  return out;
}

// Folds an IPv4-mapped address (RFC 4291, 2.5.5.2) into IPv4.
IpAddress address_v6(const in6_addr& v6) {
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return address_v4(v6.s6_addr + 12);
  IpAddress out;
  std::memcpy(out.bytes.data(), v6.s6_addr, 16);
  return out;
}

bool is_own_v4(const std::uint8_t* four) {
  return four[0] == 127 || four[0] == 0 || (four[0] == 169 && four[1] == 254);
}

// Returns the IPv4 address inside of an IPv6 address, or nullptr: IPv4-compatible (RFC 4291), NAT64 (RFC 6052),
// 6to4 (RFC 3056).
const std::uint8_t* carried_v4(const IpAddress& address) {
  const auto& b = address.bytes;
  constexpr std::array<std::uint8_t, 12> kNat64{0, 0x64, 0xff, 0x9b};
  if (std::all_of(b.begin(), b.begin() + 12, [](auto byte) { return byte == 0; })) return b.data() + 12;
  if (std::equal(kNat64.begin(), kNat64.end(), b.begin())) return b.data() + 12;
  if (b[0] == 0x20 && b[1] == 0x02) return b.data() + 2;
  return nullptr;
}

}  // namespace

std::optional<IpAddress> parse_ip(std::string_view text) {
  std::string copy(text);
  in_addr v4{};
  in6_addr v6{};
  if (::inet_pton(AF_INET, copy.c_str(), &v4) == 1) return address_v4(&v4);
  if (::inet_pton(AF_INET6, copy.c_str(), &v6) == 1) return address_v6(v6);
  return std::nullopt;
}

std::string ip_text(const IpAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> out{};
  ::inet_ntop(address.is_v4 ? AF_INET : AF_INET6, address.bytes.data(), out.data(), out.size());
  return out.data();
}

bool is_own_machine_or_link(const IpAddress& address) {
  if (address.is_v4) return is_own_v4(address.bytes.data());
  if (address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80) return true;
  const auto* carried = carried_v4(address);  // of ::1 and :: too: 0.0.0.1 and 0.0.0.0
  return carried && is_own_v4(carried);
}

bool IpNetwork::contains(const IpAddress& other) const {
  if (other.is_v4 != address.is_v4) return false;
  auto whole = static_cast<std::size_t>(prefix / 8);
  if (!std::equal(address.bytes.begin(), address.bytes.begin() + static_cast<std::ptrdiff_t>(whole),
                  other.bytes.begin()))
    return false;
  int rest = prefix % 8;
  return rest == 0 || address.bytes[whole] >> (8 - rest) == other.bytes[whole] >> (8 - rest);
}

std::optional<IpNetwork> parse_network(std::string_view text) {
  auto slash = text.find('/');
  auto address = parse_ip(text.substr(0, slash));
  if (!address) return std::nullopt;
  int bits = address->is_v4 ? kBitsV4 : kBitsV6;
  if (slash == text.npos) return IpNetwork{*address, bits};
  auto digits = text.substr(slash + 1);
  int prefix = -1;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
  bool is_number = error == std::errc() && end == digits.data() + digits.size();
  // The prefix of an IPv4-mapped network counts IPv6 bits.
  if (is_number && address->is_v4 && text.substr(0, slash).find(':') != text.npos)
    prefix -= kBitsV6 - kBitsV4;
  if (!is_number || prefix < 0 || prefix > bits) return std::nullopt;
  return IpNetwork{*address, prefix};
}

Result<std::vector<IpAddress>> resolve_name(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (int rc = ::getaddrinfo(name.c_str(), nullptr, &hints, &found); rc != 0)
    return fail(Code::invalid, "'{}' has no address: {}", name, ::gai_strerror(rc));
  std::unique_ptr<addrinfo, AddressListDeleter> list(found);
  std::vector<IpAddress> out;
  for (const auto* entry = list.get(); entry; entry = entry->ai_next) {
    IpAddress address;
    if (entry->ai_family == AF_INET)
      address = address_v4(&reinterpret_cast<const sockaddr_in*>(entry->ai_addr)->sin_addr);
    else if (entry->ai_family == AF_INET6)
      address = address_v6(reinterpret_cast<const sockaddr_in6*>(entry->ai_addr)->sin6_addr);
    else
      continue;
    if (std::ranges::find(out, address) == out.end()) out.push_back(address);
  }
  if (out.empty()) return fail(Code::invalid, "'{}' has no address", name);
  return out;
}

}  // namespace dash::automation
