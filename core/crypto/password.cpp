#include "core/crypto/password.hpp"

#include <openssl/evp.h>

#include <charconv>

#include "core/crypto/hash.hpp"

namespace dash::crypto {
namespace {

// OWASP's floor for interactive logins with r=8, p=1 is 2^17/1; 2^15 keeps 2 cores responsive.
constexpr int kLog2N = 15;
constexpr std::string_view kPrefix = "scrypt$ln=";

}  // namespace

Result<Secret> scrypt_key(const Secret& passphrase, std::string_view salt, int log2_n) {
  if (log2_n < 10 || log2_n > 20) return fail(Code::invalid, "scrypt cost {} is out of range", log2_n);
  std::string out(32, '\0');
  std::uint64_t n = std::uint64_t{1} << log2_n;
  const auto& text = passphrase.expose();
  if (EVP_PBE_scrypt(text.data(), text.size(), reinterpret_cast<const unsigned char*>(salt.data()),
                     salt.size(), n, 8, 1, 128 * 8 * n * 2, reinterpret_cast<unsigned char*>(out.data()),
                     out.size()) != 1)
    return fail(Code::internal, "scrypt failed");
  return Secret(std::move(out));
}

std::string hash_password(const Secret& password) {
  auto salt = random_bytes(16);
  auto key = scrypt_key(password, salt, kLog2N).value();
  return fmt::format("{}{},r=8,p=1${}${}", kPrefix, kLog2N, to_base64url(salt), to_base64url(key.expose()));
}

bool verify_password(const Secret& password, std::string_view hash) {
  if (!hash.starts_with(kPrefix)) return false;
  hash.remove_prefix(kPrefix.size());
  int log2_n = 0;
  auto [end, ec] = std::from_chars(hash.data(), hash.data() + hash.size(), log2_n);
  hash.remove_prefix(static_cast<std::size_t>(end - hash.data()));
  constexpr std::string_view kRest = ",r=8,p=1$";
  if (ec != std::errc() || !hash.starts_with(kRest)) return false;
  hash.remove_prefix(kRest.size());
  auto dollar = hash.find('$');
  if (dollar == hash.npos) return false;
  auto salt = from_base64url(hash.substr(0, dollar));
  auto expected = from_base64url(hash.substr(dollar + 1));
  if (!salt || !expected) return false;
  auto key = scrypt_key(password, *salt, log2_n);
  return key && equal_constant_time(key->expose(), *expected);
}

}  // namespace dash::crypto
