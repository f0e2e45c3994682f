#include "core/crypto/aead.hpp"

#include <openssl/evp.h>

#include <cstdlib>
#include <memory>

#include "core/crypto/bytes.hpp"
#include "core/crypto/hash.hpp"

namespace dash::crypto {
namespace {

constexpr std::size_t kNonce = 12;
constexpr std::size_t kTag = 16;

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;
Context context() { return {EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free}; }

}  // namespace

std::string seal(const Secret& key, std::string_view plain, std::string_view aad) {
  std::string out = random_bytes(kNonce);
  out.resize(kNonce + plain.size() + kTag);
  auto ctx = context();
  int n = 0;
  bool ok =
      key.expose().size() == 32 &&
      EVP_EncryptInit_ex(ctx.get(), EVP_aes_256_gcm(), nullptr, raw(key.expose()), raw(out)) == 1 &&
      EVP_EncryptUpdate(ctx.get(), nullptr, &n, raw(aad), static_cast<int>(aad.size())) == 1 &&
      EVP_EncryptUpdate(ctx.get(), mut(out, kNonce), &n, raw(plain), static_cast<int>(plain.size())) == 1 &&
      EVP_EncryptFinal_ex(ctx.get(), mut(out, kNonce + plain.size()), &n) == 1 &&
      EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_GET_TAG, kTag, mut(out, kNonce + plain.size())) == 1;
  if (!ok) std::abort();
  return out;
}

Result<std::string> open(const Secret& key, std::string_view sealed, std::string_view aad) {
  auto broken = [] {
    return fail(Code::integrity, "the sealed text was made with another key or was changed");
  };
  if (sealed.size() < kNonce + kTag || key.expose().size() != 32) return broken();
  auto cipher = sealed.substr(kNonce, sealed.size() - kNonce - kTag);
  std::string tag(sealed.substr(sealed.size() - kTag));
  std::string out(cipher.size(), '\0');
  auto ctx = context();
  int n = 0;
  bool ok = EVP_DecryptInit_ex(ctx.get(), EVP_aes_256_gcm(), nullptr, raw(key.expose()), raw(sealed)) == 1 &&
            EVP_DecryptUpdate(ctx.get(), nullptr, &n, raw(aad), static_cast<int>(aad.size())) == 1 &&
            EVP_DecryptUpdate(ctx.get(), mut(out), &n, raw(cipher), static_cast<int>(cipher.size())) == 1 &&
            EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_SET_TAG, kTag, mut(tag)) == 1 &&
            EVP_DecryptFinal_ex(ctx.get(), mut(out, out.size()), &n) == 1;
  if (!ok) return broken();
  return out;
}

}  // namespace dash::crypto
