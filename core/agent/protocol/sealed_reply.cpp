#include "core/agent/protocol/sealed_reply.hpp"

#include "core/agent/protocol/canonical_json.hpp"
#include "core/crypto/aead.hpp"
#include "core/crypto/hash.hpp"

namespace dash::agent {
namespace {

constexpr std::string_view kSealAlgorithm = "X25519-HKDF-SHA256-AES256GCM";
// The label of the deployed agents: another one would make another key.
constexpr std::string_view kSealInfo = "vm-dashboard/agent-secret-seal/v1";
constexpr std::size_t kSealNonceBytes = 12;

Secret seal_key(std::string_view ephemeral, std::string_view reply, const Secret& shared) {
  Secret input(std::string(ephemeral) + std::string(reply) + shared.expose());
  return Secret(crypto::hkdf_sha256(input.expose(), "", kSealInfo, 32));
}

std::string seal_aad(const SealBinding& binding, std::string_view ephemeral) {
  return canonical_json({{"agent_id", binding.agent_id},
                         {"aud", binding.audience},
                         {"epk", crypto::to_base64(ephemeral)},
                         {"job_id", binding.job_id},
                         {"ref", binding.ref},
                         {"v", 1}});
}

Failure no_sealed_secret() {
  return fail(Code::integrity,
              "the sealed secret was made for another key, agent or job, or was changed on its way");
}

bool is_version_1(const Json& sealed) {
  auto v = sealed.find("v");
  if (v == sealed.end()) return false;
  if (v->is_boolean()) return v->get<bool>();
  return v->is_number() && v->get<double>() == 1;
}

std::optional<std::string> bytes_member(const Json& sealed, std::string_view name) {
  auto text = string_member(sealed, name);
  return text ? crypto::from_base64(*text) : std::nullopt;
}

}  // namespace

Result<std::string> read_reply_key(std::string_view base64) {
  auto key = crypto::from_base64(base64);
  if (!key || key->size() != 32)
    return fail(Code::invalid, "reply_key is not the base64 of an X25519 public key of 32 bytes");
  return *std::move(key);
}

Result<OrderedJson> seal_reply(const Secret& secret, std::string_view reply_key, const SealBinding& binding) {
  auto ephemeral = crypto::new_x25519_key();
  auto shared = TRY(crypto::x25519_agree(ephemeral, reply_key));
  auto key = seal_key(ephemeral.public_key, reply_key, shared);
  Secret plain(canonical_json({{"secret", secret.expose()}}));
  auto sealed = crypto::seal(key, plain.expose(), seal_aad(binding, ephemeral.public_key));
  auto text = std::string_view(sealed);
  return OrderedJson{{"v", 1},
                     {"alg", kSealAlgorithm},
                     {"epk", crypto::to_base64(ephemeral.public_key)},
                     {"nonce", crypto::to_base64(text.substr(0, kSealNonceBytes))},
                     {"ct", crypto::to_base64(text.substr(kSealNonceBytes))}};
}

Result<Secret> open_reply(const Json& sealed, const crypto::X25519Key& reply_key,
                          const SealBinding& binding) {
  if (!sealed.is_object() || !is_version_1(sealed) || string_member(sealed, "alg") != kSealAlgorithm)
    return no_sealed_secret();
  auto ephemeral = bytes_member(sealed, "epk"), nonce = bytes_member(sealed, "nonce"),
       ct = bytes_member(sealed, "ct");
  if (!ephemeral || !nonce || !ct || nonce->size() != kSealNonceBytes) return no_sealed_secret();
  auto shared = crypto::x25519_agree(reply_key, *ephemeral);
  if (!shared) return no_sealed_secret();
  auto key = seal_key(*ephemeral, reply_key.public_key, *shared);
  auto plain = crypto::open(key, *nonce + *ct, seal_aad(binding, *ephemeral));
  if (!plain) return no_sealed_secret();
  Secret text(*std::move(plain));
  auto document = parse_json(text.expose());
  auto secret = document && document->is_object() ? string_member(*document, "secret") : std::nullopt;
  if (!secret) return no_sealed_secret();
  return Secret(*std::move(secret));
}

}  // namespace dash::agent
