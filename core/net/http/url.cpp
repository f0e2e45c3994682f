#include <cctype>

#include "core/crypto/hash.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::net {

std::optional<std::string> Headers::get(std::string_view name) const {
  auto same = [&](std::string_view other) {
    return other.size() == name.size() &&
           std::equal(other.begin(), other.end(), name.begin(), [](char a, char b) {
             return std::tolower(static_cast<unsigned char>(a)) ==
                    std::tolower(static_cast<unsigned char>(b));
           });
  };
  for (const auto& [key, value] : list_)
    if (same(key)) return value;
  return std::nullopt;
}

std::string percent_encode(std::string_view text, bool keep_slash) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (char c : text) {
    auto b = static_cast<unsigned char>(c);
    bool plain = (b >= 'A' && b <= 'Z') || (b >= 'a' && b <= 'z') || (b >= '0' && b <= '9') || b == '-' ||
                 b == '.' || b == '_' || b == '~' || (keep_slash && b == '/');
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kDigits[b >> 4];
      out += kDigits[b & 15];
    }
  }
  return out;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    auto byte = crypto::from_hex(text.substr(i + 1, 2));
    if (!byte) return std::nullopt;
    out += *byte;
    i += 2;
  }
  return out;
}

std::string form_encode(std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    if (!out.empty()) out += '&';
    out += percent_encode(name) + "=" + percent_encode(value);
  }
  return out;
}

std::string origin_of(std::string_view url) {
  auto scheme = url.find("://");
  if (scheme == url.npos) return std::string(url.substr(0, url.find_first_of("/?#")));
  auto host = url.substr(scheme + 3);
  host = host.substr(0, host.find_first_of("/?#"));
  if (auto at = host.rfind('@'); at != host.npos) host.remove_prefix(at + 1);
  return fmt::format("{}://{}", url.substr(0, scheme), host);
}

}  // namespace dash::net
