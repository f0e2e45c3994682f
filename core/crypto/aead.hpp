// AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce: sealed = nonce(12) | ciphertext | tag(16).
#pragma once
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::crypto {

// `key` has 32 bytes. `aad` is bound to the text but not in it.
std::string seal(const Secret& key, std::string_view plain, std::string_view aad);
// Code::integrity when the key, the aad or any byte is not what it was.
Result<std::string> open(const Secret& key, std::string_view sealed, std::string_view aad);

}  // namespace dash::crypto
