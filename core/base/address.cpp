#include "core/base/address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace dash {

std::string network_of(std::string_view address) {
  std::string text(address);
  in6_addr v6{};
  if (::inet_pton(AF_INET6, text.c_str(), &v6) != 1 || IN6_IS_ADDR_V4MAPPED(&v6)) return text;
  std::fill(std::begin(v6.s6_addr) + 8, std::end(v6.s6_addr), std::uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> out{};
  ::inet_ntop(AF_INET6, &v6, out.data(), out.size());
  return std::string(out.data()) + "/64";
}

}  // namespace dash
