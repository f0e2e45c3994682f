// Asymmetric keys: Ed25519 (RFC 8032) for checkpoints, RSA PKCS#1 v1.5 with SHA-256 (RFC 8017) for the
// clouds' request signatures.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::crypto {

// The key pair of a 32-byte seed. It can be derived again, so it need not be stored.
struct Ed25519Key {
  Secret seed;             // 32 bytes
  std::string public_key;  // 32 bytes
};
Ed25519Key ed25519_from_seed(Secret seed);
std::string ed25519_sign(const Ed25519Key& key, std::string_view message);  // 64 bytes
bool ed25519_verify(std::string_view public_key, std::string_view message, std::string_view signature);

// An RSA private key, parsed once, because parsing PEM costs more than a signature. Thread-safe.
class RsaKey {
 public:
  // Reads PKCS#8 or PKCS#1; `passphrase` may be empty. Fails with Code::invalid and what is wrong with the
  // key.
  static Result<RsaKey> from_pem(const Secret& pem, const Secret& passphrase);
  std::string sign_sha256(std::string_view message) const;
  std::string public_der() const;  // SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), the input of fingerprints

 private:
  explicit RsaKey(std::shared_ptr<void> key) : key_(std::move(key)) {}
  std::shared_ptr<void> key_;
};

}  // namespace dash::crypto
