// Key agreement on Curve25519 (RFC 7748).
#pragma once
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::crypto {

struct X25519Key {
  Secret private_key;      // 32 bytes
  std::string public_key;  // 32 bytes
};
X25519Key new_x25519_key();
// `private_key` has 32 bytes.
X25519Key x25519_from_private(Secret private_key);
// Returns the 32 bytes that both sides share. Code::invalid when `their_public` is no 32-byte key, or one of
// the few points for which the result is all zero whatever our key is.
Result<Secret> x25519_agree(const X25519Key& ours, std::string_view their_public);

}  // namespace dash::crypto
