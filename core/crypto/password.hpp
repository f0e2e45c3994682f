// Password hashes and passphrase keys: scrypt (RFC 7914).
#pragma once
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::crypto {

// Returns "scrypt$ln=15,r=8,p=1$<salt>$<hash>", both parts in base64url. Takes about 0.1 s and 32 MiB.
std::string hash_password(const Secret& password);
// Returns false for a wrong password, and for a text that is no such hash.
bool verify_password(const Secret& password, std::string_view hash);

// Returns a 32-byte key from a passphrase; `log2_n` is 15 above. Fails with Code::invalid outside of 10..20.
Result<Secret> scrypt_key(const Secret& passphrase, std::string_view salt, int log2_n);

}  // namespace dash::crypto
