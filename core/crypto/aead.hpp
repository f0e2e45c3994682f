// AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce: sealed = nonce(12) | ciphertext | tag(16).
#pragma once
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::crypto {

// Encrypts. `key` has 32 bytes. `aad` is bound to the text but is not part of the result.
std::string seal(const Secret& key, std::string_view plain, std::string_view aad);
// Decrypts. Fails with Code::integrity when the key, `aad` or any byte differs.
Result<std::string> open(const Secret& key, std::string_view sealed, std::string_view aad);

}  // namespace dash::crypto
