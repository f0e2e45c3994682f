#include "core/net/ssh/known_hosts.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "core/base/lines.hpp"
#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"
#include "core/crypto/hmac_sha1.hpp"

namespace dash::net {
namespace {

constexpr int kDefaultPort = 22;

struct KnownHostsEntry {
  std::string marker;  // "@revoked", "@cert-authority" or nothing
  std::string names, type, key;
};

// Removes the next word from `rest` and returns it.
std::string next_word(std::string_view& rest) {
  rest = trim(rest);
  auto word = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(word.size());
  return std::string(word);
}

std::vector<KnownHostsEntry> parse_entries(std::string_view text) {
  std::vector<KnownHostsEntry> out;
  for (auto whole : lines_of(text)) {
    auto rest = trim(whole);
    if (rest.empty() || rest.starts_with('#')) continue;
    KnownHostsEntry line;
    if (rest.starts_with('@')) line.marker = next_word(rest);
    line.names = next_word(rest);
    line.type = next_word(rest);
    line.key = next_word(rest);
    if (!line.key.empty()) out.push_back(std::move(line));
  }
  return out;
}

// "|1|base64 salt|base64 HMAC-SHA1 of the name"
bool matches_hash(std::string_view hashed, const std::string& name) {
  auto middle = hashed.find('|', 3);
  if (!hashed.starts_with("|1|") || middle == hashed.npos) return false;
  auto salt = crypto::from_base64(hashed.substr(3, middle - 3));
  auto hash = crypto::from_base64(hashed.substr(middle + 1));
  return salt && hash && crypto::hmac_sha1(*salt, name) == *hash;
}

bool matches_pattern(const std::string& pattern, const std::string& name) {
  // A bracket is a part of the name here, not a set of characters.
  std::string escaped;
  for (char c : pattern) {
    if (c == '[' || c == ']' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return ::fnmatch(escaped.c_str(), name.c_str(), 0) == 0;
}

bool matches_host(const KnownHostsEntry& line, const std::string& name) {
  if (line.names.starts_with('|')) return matches_hash(line.names, name);
  bool found = false;
  std::string_view rest = line.names;
  while (!rest.empty()) {
    auto end = rest.find(',');
    auto pattern = lower(rest.substr(0, end));
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    bool is_negated = pattern.starts_with('!');
    if (!matches_pattern(is_negated ? pattern.substr(1) : pattern, name)) continue;
    if (is_negated) return false;
    found = true;
  }
  return found;
}

std::string listed_name(std::string_view host, int port) {
  return port == kDefaultPort ? lower(host) : fmt::format("[{}]:{}", lower(host), port);
}

bool has_key(const KnownHostsEntry& line, const HostKey& key) {
  return line.type == key.type && line.key == crypto::to_base64(key.blob);
}

}  // namespace

HostKeyStatus check_host_key(std::string_view known_hosts, std::string_view host, int port,
                             const HostKey& key) {
  auto name = listed_name(host, port), plain = lower(host);
  bool is_listed = false, is_known = false, has_type = false;
  for (const auto& line : parse_entries(known_hosts)) {
    // A host that moved its server to another port keeps its key: an entry without a port counts, if the key
    // matches.
    bool is_named = matches_host(line, name), fits = has_key(line, key);
    if (!is_named && !(fits && matches_host(line, plain))) continue;
    if (line.marker == "@revoked" && fits) return HostKeyStatus::revoked;
    if (!line.marker.empty()) continue;
    is_listed = true;
    is_known = is_known || fits;
    has_type = has_type || line.type == key.type;
  }
  if (is_known) return HostKeyStatus::known;
  if (!is_listed) return HostKeyStatus::unknown;
  return has_type ? HostKeyStatus::changed : HostKeyStatus::other_type;
}

std::vector<std::string> listed_key_types(std::string_view known_hosts, std::string_view host, int port) {
  std::vector<std::string> out;
  auto name = listed_name(host, port), plain = lower(host);
  for (const auto& line : parse_entries(known_hosts))
    if (line.marker.empty() && (matches_host(line, name) || matches_host(line, plain)) &&
        std::ranges::find(out, line.type) == out.end())
      out.push_back(line.type);
  return out;
}

std::string known_hosts_line(std::string_view host, int port, const HostKey& key) {
  return fmt::format("{} {} {}\n", listed_name(host, port), key.type, crypto::to_base64(key.blob));
}

std::string host_key_fingerprint(const HostKey& key) {
  auto text = crypto::to_base64(crypto::sha256(key.blob));
  while (text.ends_with('=')) text.pop_back();
  return "SHA256:" + text;
}

}  // namespace dash::net
