#include "core/crypto/hash.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <array>
#include <cstdlib>

namespace dash::crypto {
namespace {

void abort_unless(bool ok) {
  if (!ok) std::abort();
}

std::string digest(const EVP_MD* md, std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  abort_unless(EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, md, nullptr) == 1);
  return {reinterpret_cast<char*>(out.data()), size};
}

// Hashes both texts, one after the other. The audit log hashes millions of small texts: looking the algorithm
// up each time would cost more than the hash.
std::string sha256_of(std::string_view first, std::string_view second) {
  static const EVP_MD* const kMd = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  thread_local std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> ctx(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::string out(32, '\0');
  abort_unless(EVP_DigestInit_ex2(ctx.get(), kMd, nullptr) == 1 &&
               EVP_DigestUpdate(ctx.get(), first.data(), first.size()) == 1 &&
               EVP_DigestUpdate(ctx.get(), second.data(), second.size()) == 1 &&
               EVP_DigestFinal_ex(ctx.get(), reinterpret_cast<unsigned char*>(out.data()), nullptr) == 1);
  return out;
}

}  // namespace

std::string sha256(std::string_view bytes) { return sha256_of(bytes, {}); }
std::string sha1(std::string_view bytes) { return digest(EVP_sha1(), bytes); }
std::string md5(std::string_view bytes) { return digest(EVP_md5(), bytes); }

// RFC 2104 over sha256_of(). The library's own HMAC looks its algorithms up at each call, and every denial
// computes a token, two seals of an audit entry and its head.
std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  constexpr std::size_t kBlock = 64;
  std::array<char, kBlock> inner{}, outer{};
  auto folded = key.size() > kBlock ? sha256(key) : std::string();
  if (!folded.empty()) key = folded;
  for (std::size_t i = 0; i < kBlock; ++i) {
    auto octet = i < key.size() ? key[i] : '\0';
    inner[i] = static_cast<char>(octet ^ 0x36);
    outer[i] = static_cast<char>(octet ^ 0x5c);
  }
  auto out = sha256_of({outer.data(), kBlock}, sha256_of({inner.data(), kBlock}, bytes));
  for (auto* pad : {&inner, &outer}) OPENSSL_cleanse(pad->data(), kBlock);
  OPENSSL_cleanse(folded.data(), folded.size());
  return out;
}

std::string hkdf_sha256(std::string_view key, std::string_view salt, std::string_view info,
                        std::size_t size) {
  std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr),
                                                        EVP_KDF_free);
  abort_unless(kdf != nullptr);
  std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> ctx(EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
  auto octets = [](const char* name, std::string_view s) {
    return OSSL_PARAM_construct_octet_string(name, const_cast<char*>(s.data()), s.size());
  };
  char md[] = "SHA256";
  OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, md, 0),
                         octets(OSSL_KDF_PARAM_KEY, key), octets(OSSL_KDF_PARAM_SALT, salt),
                         octets(OSSL_KDF_PARAM_INFO, info), OSSL_PARAM_construct_end()};
  std::string out(size, '\0');
  abort_unless(EVP_KDF_derive(ctx.get(), reinterpret_cast<unsigned char*>(out.data()), size, params) == 1);
  return out;
}

struct Sha256::State {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> ctx{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  abort_unless(state_->ctx && EVP_DigestInit_ex(state_->ctx.get(), EVP_sha256(), nullptr) == 1);
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
  abort_unless(EVP_DigestUpdate(state_->ctx.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::finish() {
  std::array<unsigned char, 32> out{};
  unsigned size = 0;
  abort_unless(EVP_DigestFinal_ex(state_->ctx.get(), out.data(), &size) == 1);
  return {reinterpret_cast<char*>(out.data()), size};
}

std::string random_bytes(std::size_t size) {
  std::string out(size, '\0');
  abort_unless(RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(size)) == 1);
  return out;
}

std::string random_hex(std::size_t bytes) { return to_hex(random_bytes(bytes)); }

// RFC 9562 §5.4.
std::string uuid4() {
  auto b = random_bytes(16);
  b[6] = static_cast<char>((b[6] & 0x0f) | 0x40);
  b[8] = static_cast<char>((b[8] & 0x3f) | 0x80);
  auto h = to_hex(b);
  return h.substr(0, 8) + "-" + h.substr(8, 4) + "-" + h.substr(12, 4) + "-" + h.substr(16, 4) + "-" +
         h.substr(20);
}

bool equal_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace dash::crypto
