#include "core/net/ssh/ssh_address.hpp"

#include <algorithm>
#include <charconv>

namespace dash::net {
namespace {

constexpr int kMaxPort = 65535;

// A leading '-' would be an option of ssh; the other characters have no place in a name.
bool is_plain(std::string_view name) {
  return !name.starts_with('-') && std::ranges::all_of(name, [](char c) {
    return static_cast<unsigned char>(c) > 32 && c != 127 && c != '/' && c != '\'' && c != '"';
  });
}

bool parse_port(std::string_view text, int& into) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc() && end == text.data() + text.size() && into > 0 && into <= kMaxPort;
}

}  // namespace

Result<SshAddress> parse_ssh_address(std::string_view url) {
  auto bad = [&] { return fail(Code::usage, "'{}' is not of the form ssh://user@host[:port]", url); };
  constexpr std::string_view kScheme = "ssh://";
  if (!url.starts_with(kScheme)) return bad();
  auto rest = url.substr(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  SshAddress out;
  if (auto at = rest.rfind('@'); at != rest.npos) {
    out.user = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    if (out.user.empty()) return bad();
    if (out.user.find(':') != out.user.npos)
      return fail(Code::usage, "an ssh:// address carries no password: leave it out and answer the question");
  }
  auto colon = rest.rfind(':');
  if (rest.starts_with('[')) {
    auto close = rest.find(']');
    if (close == rest.npos) return bad();
    out.host = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
    colon = rest.empty() ? rest.npos : 0;
    if (!rest.empty() && rest[0] != ':') return bad();
  } else {
    if (colon != rest.npos && rest.find(':') != colon) return bad();  // an IPv6 address needs its brackets
    out.host = rest.substr(0, colon);
  }
  if (colon != rest.npos && !parse_port(rest.substr(colon + 1), out.port)) return bad();
  if (out.host.empty() || !is_plain(out.host) || !is_plain(out.user)) return bad();
  return out;
}

}  // namespace dash::net
