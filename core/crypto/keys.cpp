#include "core/crypto/keys.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/crypto/bytes.hpp"

namespace dash::crypto {
namespace {

using Pkey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using MdContext = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

Pkey ed25519_private(const Secret& seed) {
  return {
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, byte_ptr(seed.expose()), seed.expose().size()),
      EVP_PKEY_free};
}

std::string sign(EVP_PKEY* key, const EVP_MD* md, std::string_view message) {
  MdContext ctx(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::size_t size = 0;
  if (!ctx || EVP_DigestSignInit(ctx.get(), nullptr, md, nullptr, key) != 1 ||
      EVP_DigestSign(ctx.get(), nullptr, &size, byte_ptr(message), message.size()) != 1)
    std::abort();
  std::string out(size, '\0');
  if (EVP_DigestSign(ctx.get(), mutable_byte_ptr(out), &size, byte_ptr(message), message.size()) != 1)
    std::abort();
  out.resize(size);
  return out;
}

int copy_passphrase(char* buffer, int size, int, void* user) {
  const auto& text = static_cast<const Secret*>(user)->expose();
  if (static_cast<int>(text.size()) > size) return 0;
  text.copy(buffer, text.size());  // OpenSSL needs no NUL at the end
  return static_cast<int>(text.size());
}

}  // namespace

Ed25519Key ed25519_from_seed(Secret seed) {
  auto key = ed25519_private(seed);
  std::string pub(32, '\0');
  std::size_t size = pub.size();
  if (!key || EVP_PKEY_get_raw_public_key(key.get(), mutable_byte_ptr(pub), &size) != 1) std::abort();
  return {std::move(seed), std::move(pub)};
}

std::string ed25519_sign(const Ed25519Key& key, std::string_view message) {
  return sign(ed25519_private(key.seed).get(), nullptr, message);
}

bool ed25519_verify(std::string_view public_key, std::string_view message, std::string_view signature) {
  Pkey key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, byte_ptr(public_key), public_key.size()),
           EVP_PKEY_free);
  MdContext ctx(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  return key && ctx && EVP_DigestVerifyInit(ctx.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(ctx.get(), byte_ptr(signature), signature.size(), byte_ptr(message),
                          message.size()) == 1;
}

Result<RsaKey> RsaKey::from_pem(const Secret& pem, const Secret& passphrase) {
  std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(pem.expose().data(), static_cast<int>(pem.expose().size())), BIO_free);
  Pkey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, copy_passphrase, const_cast<Secret*>(&passphrase)),
           EVP_PKEY_free);
  ERR_clear_error();
  if (!key)
    return fail(Code::invalid, "the private key is not a readable PEM key, or its passphrase is wrong");
  if (EVP_PKEY_base_id(key.get()) != EVP_PKEY_RSA)
    return fail(Code::invalid, "the private key is not an RSA key");
  return RsaKey(
      std::shared_ptr<void>(key.release(), [](void* p) { EVP_PKEY_free(static_cast<EVP_PKEY*>(p)); }));
}

std::string RsaKey::sign_sha256(std::string_view message) const {
  return sign(static_cast<EVP_PKEY*>(key_.get()), EVP_sha256(), message);
}

std::string RsaKey::public_der() const {
  unsigned char* der = nullptr;
  int size = i2d_PUBKEY(static_cast<EVP_PKEY*>(key_.get()), &der);
  if (size <= 0) std::abort();
  std::string out(reinterpret_cast<char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return out;
}

}  // namespace dash::crypto
