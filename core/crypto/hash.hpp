// Digests, MACs, key derivation, random bytes and text encodings, thin on OpenSSL. Digests are raw bytes in a
// std::string. A failure of OpenSSL here means no memory or a broken build, so these functions abort the
// process instead of returning a Result.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dash::crypto {

std::string sha256(std::string_view bytes);
std::string sha1(std::string_view bytes);
std::string md5(std::string_view bytes);  // for Content-MD5 and key fingerprints only
std::string hmac_sha256(std::string_view key, std::string_view bytes);
// RFC 5869.
std::string hkdf_sha256(std::string_view key, std::string_view salt, std::string_view info, std::size_t size);

// SHA-256 of bytes that arrive in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::string_view bytes);
  std::string finish();  // called once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string random_bytes(std::size_t size);
std::string random_hex(std::size_t bytes);
std::string uuid4();

// Takes the same time whatever the content. The time may depend on the lengths.
bool equal_constant_time(std::string_view a, std::string_view b);

std::string to_hex(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view text);
std::string to_base64(std::string_view bytes);     // RFC 4648 §4, padded
std::string to_base64url(std::string_view bytes);  // RFC 4648 §5, no padding
// Decodes strictly: one canonical text per value, no white space, padding as the encoder writes it.
std::optional<std::string> from_base64(std::string_view text);
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace dash::crypto
