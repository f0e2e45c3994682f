#include "daemon/http/target.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

namespace dash::daemon {
namespace {

std::optional<std::string> decode(std::string_view text) {
  auto plain = net::percent_decode(text);
  if (!plain || plain->find('\0') != plain->npos) return std::nullopt;
  return plain;
}

std::optional<std::string> decode_field(std::string_view text) {
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return decode(spaced);
}

bool is_safe_segment(std::string_view segment) {
  auto plain = decode(segment);
  return plain && *plain != "." && *plain != ".." && is_utf8(*plain);
}

bool is_safe_path(std::string_view path) {
  while (!path.empty()) {
    path.remove_prefix(1);  // '/'
    auto segment = path.substr(0, path.find('/'));
    if (!is_safe_segment(segment)) return false;
    path.remove_prefix(segment.size());
  }
  return true;
}

bool is_text(const Fields& fields) {
  return std::ranges::all_of(fields,
                             [](const auto& field) { return is_utf8(field.first) && is_utf8(field.second); });
}

// RFC 9112 §3.2.2: a client may send "http://host/path" to any server.
std::string_view without_authority(std::string_view target) {
  for (std::string_view scheme : {"http://", "https://"}) {
    if (lower(target.substr(0, scheme.size())) != scheme) continue;
    auto slash = target.find('/', scheme.size());
    return slash == target.npos ? std::string_view("/") : target.substr(slash);
  }
  return target;
}

// RFC 3986 §6.2.2.2: "%61" and "a" name the same resource. One pass, so that "%2561" stays what it is.
std::string unescape_unreserved(std::string_view path) {
  if (path.find('%') == path.npos) return std::string(path);
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    auto plain = path[i] == '%' ? net::percent_decode(path.substr(i, 3)) : std::nullopt;
    bool is_unreserved = plain && net::percent_encode(*plain) == *plain;
    out += is_unreserved ? plain->front() : path[i];
    if (is_unreserved) i += 2;
  }
  return out;
}

}  // namespace

std::optional<Fields> parse_fields(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    auto pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    auto equals = std::min(pair.find('='), pair.size());
    auto name = decode_field(pair.substr(0, equals));
    auto value = decode_field(pair.substr(std::min(pair.size(), equals + 1)));
    if (!name || !value) return std::nullopt;
    fields.add(std::move(*name), std::move(*value));
  }
  return fields;
}

std::optional<RequestTarget> parse_target(std::string_view target) {
  auto bad = [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f || c == '#' || c == '\\';
  };
  if (std::any_of(target.begin(), target.end(), bad)) return std::nullopt;
  target = without_authority(target);
  auto path = target.substr(0, target.find('?'));
  if (!path.starts_with('/') || !is_safe_path(path)) return std::nullopt;
  auto query = parse_fields(target.substr(std::min(target.size(), path.size() + 1)));
  if (!query || !is_text(*query)) return std::nullopt;
  return RequestTarget{unescape_unreserved(path), std::move(*query)};
}

}  // namespace dash::daemon
