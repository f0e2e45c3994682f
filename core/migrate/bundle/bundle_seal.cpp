#include "core/migrate/bundle/bundle_seal.hpp"

#include "core/base/json.hpp"
#include "core/crypto/aead.hpp"
#include "core/crypto/hash.hpp"
#include "core/crypto/password.hpp"

namespace dash::migrate {
namespace {

constexpr std::string_view kSealMember = "dashctl_sealed_bundle";
constexpr std::string_view kAssociatedData = "dashctl sealed bundle v1";
constexpr int kVersion = 1;
constexpr int kLog2N = 17;  // 128 MiB and some tenths of a second, once a run
constexpr std::size_t kSaltBytes = 16;

}  // namespace

Result<std::string> seal_bundle(std::string_view text, const Secret& passphrase) {
  auto salt = crypto::random_bytes(kSaltBytes);
  auto key = TRY(crypto::scrypt_key(passphrase, salt, kLog2N));
  OrderedJson out{{std::string(kSealMember), kVersion},
                  {"kdf", "scrypt"},
                  {"log2_n", kLog2N},
                  {"salt", crypto::to_base64(salt)},
                  {"cipher", "AES-256-GCM"},
                  {"data", crypto::to_base64(crypto::seal(key, text, kAssociatedData))}};
  return dump_json(out, 2) + "\n";
}

bool is_sealed_bundle(std::string_view text) {
  // The seal comes first, so that a plain bundle of any size need not be parsed.
  return text.substr(0, 64).find(kSealMember) != text.npos;
}

Result<std::string> open_sealed_bundle(std::string_view text, const Secret& passphrase,
                                       std::string_view file) {
  auto bad = [&](std::string_view reason) { return fail(Code::integrity, "the bundle {} {}", file, reason); };
  auto json = parse_json(text);
  if (!json || !json->is_object()) return bad("is cut or damaged");
  if (json->value(kSealMember, Json()) != kVersion) return bad("was sealed by a newer dashctl");
  auto salt = crypto::from_base64(string_member(*json, "salt").value_or(""));
  auto data = crypto::from_base64(string_member(*json, "data").value_or(""));
  auto log2_n = json->value("log2_n", Json());
  if (!salt || !data || !log2_n.is_number_integer()) return bad("is cut or damaged");
  auto key = crypto::scrypt_key(passphrase, *salt, static_cast<int>(log2_n.get<std::int64_t>()));
  if (!key) return bad("is cut or damaged");
  auto plain = crypto::open(*key, *data, kAssociatedData);
  if (!plain) return bad("does not open: the passphrase is wrong, or the file was altered");
  return plain;
}

}  // namespace dash::migrate
