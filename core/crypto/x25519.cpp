#include "core/crypto/x25519.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>

#include <cstdlib>
#include <memory>

#include "core/crypto/bytes.hpp"
#include "core/crypto/hash.hpp"

namespace dash::crypto {
namespace {

constexpr std::size_t kX25519Bytes = 32;
using X25519Pkey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using PkeyContext = std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)>;

X25519Pkey x25519_private(const Secret& key) {
  return {EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, byte_ptr(key.expose()), key.expose().size()),
          EVP_PKEY_free};
}

}  // namespace

X25519Key new_x25519_key() { return x25519_from_private(Secret(random_bytes(kX25519Bytes))); }

X25519Key x25519_from_private(Secret private_key) {
  auto key = x25519_private(private_key);
  std::string pub(kX25519Bytes, '\0');
  auto size = pub.size();
  if (!key || EVP_PKEY_get_raw_public_key(key.get(), mutable_byte_ptr(pub), &size) != 1) std::abort();
  return {std::move(private_key), std::move(pub)};
}

Result<Secret> x25519_agree(const X25519Key& ours, std::string_view their_public) {
  auto refuse = [] {
    ERR_clear_error();
    return fail(Code::invalid, "the other side's key is no usable X25519 public key of 32 bytes");
  };
  auto key = x25519_private(ours.private_key);
  X25519Pkey theirs(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr, byte_ptr(their_public), their_public.size()),
      EVP_PKEY_free);
  if (!key || !theirs) return refuse();
  PkeyContext context(EVP_PKEY_CTX_new(key.get(), nullptr), EVP_PKEY_CTX_free);
  std::string shared(kX25519Bytes, '\0');
  auto size = shared.size();
  // OpenSSL refuses an all-zero result itself; the comparison does not rely on that.
  if (!context || EVP_PKEY_derive_init(context.get()) != 1 ||
      EVP_PKEY_derive_set_peer(context.get(), theirs.get()) != 1 ||
      EVP_PKEY_derive(context.get(), mutable_byte_ptr(shared), &size) != 1 || size != kX25519Bytes ||
      equal_constant_time(shared, std::string(kX25519Bytes, '\0')))
    return refuse();
  return Secret(std::move(shared));
}

}  // namespace dash::crypto
