#include "core/crypto/aead.hpp"

#include <openssl/evp.h>

#include <cstdlib>
#include <memory>

#include "core/crypto/bytes.hpp"
#include "core/crypto/hash.hpp"

namespace dash::crypto {
namespace {

constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;

// The store opens every setting of an instance at once: looking the algorithm up each time would cost more than
// the cipher. The context forgets its key at the end of each use.
class Context {
 public:
  Context() = default;
  ~Context() { EVP_CIPHER_CTX_reset(get()); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  static EVP_CIPHER_CTX* get() {
    using Owner = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;
    thread_local Owner owner(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
    return owner.get();
  }
};

const EVP_CIPHER* aes_256_gcm() {
  static const EVP_CIPHER* const kCipher = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  return kCipher;
}

}  // namespace

std::string seal(const Secret& key, std::string_view plain, std::string_view aad) {
  std::string out = random_bytes(kNonceBytes);
  out.resize(kNonceBytes + plain.size() + kTagBytes);
  Context ctx;
  int n = 0;
  bool ok =
      key.expose().size() == 32 &&
      EVP_EncryptInit_ex(ctx.get(), aes_256_gcm(), nullptr, byte_ptr(key.expose()), byte_ptr(out)) == 1 &&
      EVP_EncryptUpdate(ctx.get(), nullptr, &n, byte_ptr(aad), static_cast<int>(aad.size())) == 1 &&
      EVP_EncryptUpdate(ctx.get(), mutable_byte_ptr(out, kNonceBytes), &n, byte_ptr(plain),
                        static_cast<int>(plain.size())) == 1 &&
      EVP_EncryptFinal_ex(ctx.get(), mutable_byte_ptr(out, kNonceBytes + plain.size()), &n) == 1 &&
      EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes,
                          mutable_byte_ptr(out, kNonceBytes + plain.size())) == 1;
  if (!ok) std::abort();
  return out;
}

Result<std::string> open(const Secret& key, std::string_view sealed, std::string_view aad) {
  auto broken = [] {
    return fail(Code::integrity, "the sealed text was made with another key or was changed");
  };
  if (sealed.size() < kNonceBytes + kTagBytes || key.expose().size() != 32) return broken();
  auto cipher = sealed.substr(kNonceBytes, sealed.size() - kNonceBytes - kTagBytes);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  std::string out(cipher.size(), '\0');
  Context ctx;
  int n = 0;
  bool ok =
      EVP_DecryptInit_ex(ctx.get(), aes_256_gcm(), nullptr, byte_ptr(key.expose()), byte_ptr(sealed)) == 1 &&
      EVP_DecryptUpdate(ctx.get(), nullptr, &n, byte_ptr(aad), static_cast<int>(aad.size())) == 1 &&
      EVP_DecryptUpdate(ctx.get(), mutable_byte_ptr(out), &n, byte_ptr(cipher),
                        static_cast<int>(cipher.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, mutable_byte_ptr(tag)) == 1 &&
      EVP_DecryptFinal_ex(ctx.get(), mutable_byte_ptr(out, out.size()), &n) == 1;
  if (!ok) return broken();
  return out;
}

}  // namespace dash::crypto
