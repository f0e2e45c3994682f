#include "core/crypto/hmac_sha1.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cstdlib>

namespace dash::crypto {

std::string hmac_sha1(std::string_view key, std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  // As in hash.hpp: a failure here means no memory.
  if (!HMAC(EVP_sha1(), key.data(), static_cast<int>(key.size()), data, bytes.size(), out.data(), &size))
    std::abort();
  return {reinterpret_cast<char*>(out.data()), size};
}

}  // namespace dash::crypto
