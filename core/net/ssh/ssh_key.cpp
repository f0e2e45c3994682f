#include "core/net/ssh/ssh_key.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/crypto/hash.hpp"

namespace dash::net {
namespace {

constexpr std::string_view kBegin = "-----BEGIN OPENSSH PRIVATE KEY-----";
constexpr std::string_view kEnd = "-----END OPENSSH PRIVATE KEY-----";
constexpr std::string_view kMagic{"openssh-key-v1\0", 15};

std::uint32_t big_endian(std::string_view four) {
  std::uint32_t out = 0;
  for (char c : four) out = out << 8 | static_cast<unsigned char>(c);
  return out;
}

// Removes a string of the wire format from the front of `rest`.
std::optional<std::string> read_string(std::string_view& rest) {
  if (rest.size() < 4) return std::nullopt;
  auto size = big_endian(rest.substr(0, 4));
  if (size > rest.size() - 4) return std::nullopt;
  std::string out(rest.substr(4, size));
  rest.remove_prefix(4 + size);
  return out;
}

// magic, cipher, kdf, kdf options, number of keys, public key, …
SshKeyInfo read_openssh_key_info(std::string_view armoured) {
  std::string text(armoured.substr(0, armoured.find(kEnd)));
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; });
  auto bytes = crypto::from_base64(text);
  if (!bytes || !std::string_view(*bytes).starts_with(kMagic)) return {};
  auto rest = std::string_view(*bytes).substr(kMagic.size());
  auto cipher = read_string(rest), kdf = read_string(rest), options = read_string(rest);
  if (!cipher || !kdf || !options || rest.size() < 4) return {};
  rest.remove_prefix(4);
  auto blob = read_string(rest).value_or("");
  return {*cipher != "none", key_type(blob), blob};
}

}  // namespace

std::string key_type(std::string_view public_blob) { return read_string(public_blob).value_or(""); }

SshKeyInfo read_key_info(std::string_view file) {
  auto has = [&](std::string_view what) { return file.find(what) != file.npos; };
  if (auto at = file.find(kBegin); at != file.npos)
    return read_openssh_key_info(file.substr(at + kBegin.size()));
  SshKeyInfo out;
  out.is_locked = has("BEGIN ENCRYPTED PRIVATE KEY") || has("Proc-Type: 4,ENCRYPTED");
  if (has("BEGIN RSA PRIVATE KEY")) out.type = "ssh-rsa";
  if (has("BEGIN EC PRIVATE KEY")) out.type = "ecdsa";
  return out;
}

}  // namespace dash::net
