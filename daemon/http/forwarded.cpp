#include "daemon/http/forwarded.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace dash::daemon {
namespace {

constexpr std::string_view kUnix = "unix";

std::string_view trimmed(std::string_view text) {
  auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool same_name(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
}

// Returns all hops in the order of the header lines, as they were written.
std::vector<std::string> hops(const Headers& headers) {
  std::vector<std::string> all;
  for (const auto& [name, value] : headers) {
    if (!same_name(name, "x-forwarded-for")) continue;
    std::string_view rest = value;
    while (true) {
      auto comma = rest.find(',');
      all.emplace_back(trimmed(rest.substr(0, comma)));
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return all;
}

}  // namespace

std::optional<std::string> canonical_address(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::string name(text);
  std::array<char, INET6_ADDRSTRLEN> out{};
  in_addr v4{};
  if (inet_pton(AF_INET, name.c_str(), &v4) == 1) return inet_ntop(AF_INET, &v4, out.data(), out.size());
  in6_addr v6{};
  if (inet_pton(AF_INET6, name.c_str(), &v6) != 1) return std::nullopt;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return inet_ntop(AF_INET, &v6.s6_addr[12], out.data(), out.size());
  return inet_ntop(AF_INET6, &v6, out.data(), out.size());
}

Result<TrustedProxies> TrustedProxies::parse(const std::vector<std::string>& list) {
  TrustedProxies proxies;
  for (const auto& entry : list) {
    auto address = entry == kUnix ? std::optional(entry) : canonical_address(entry);
    if (!address)
      return fail(Code::usage, "trusted proxy '{}' is not a literal IP address (10.0.0.5, fd00::5) or 'unix'",
                  entry);
    proxies.addresses_.push_back(*address);
  }
  return proxies;
}

bool TrustedProxies::trusts(std::string_view peer) const {
  return std::find(addresses_.begin(), addresses_.end(), peer) != addresses_.end();
}

std::string TrustedProxies::client_of(std::string_view peer, const Headers& headers) const {
  std::string client(peer);
  auto chain = hops(headers);
  while (trusts(client) && !chain.empty()) {
    auto hop = canonical_address(chain.back());
    chain.pop_back();
    if (!hop) break;  // "unknown" or malformed: the last known address is used
    client = std::move(*hop);
  }
  return client;
}

}  // namespace dash::daemon
