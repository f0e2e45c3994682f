#include "core/agent/dashboard/dashboard_key.hpp"

#include "core/crypto/hash.hpp"

namespace dash::agent {
namespace {

constexpr std::string_view kDashboardKey = "agent_envelope_signing_key";
constexpr std::size_t kSeedBytes = 32;

}  // namespace

Result<crypto::Ed25519Key> dashboard_key(db::Transaction& tx, config::EncryptedStore& config) {
  auto stored = TRY(config.get(tx, std::string(kDashboardKey)));
  if (!stored) {
    Secret seed(crypto::random_bytes(kSeedBytes));
    TRY(config.apply(tx, {{std::string(kDashboardKey), crypto::to_base64(seed.expose())}},
                     {"system", "agents"}));
    return crypto::ed25519_from_seed(std::move(seed));
  }
  auto seed = crypto::from_base64(*stored);
  if (seed && seed->size() == kSeedBytes) return crypto::ed25519_from_seed(Secret(*std::move(seed)));
  return fail(
      Code::conflict,
      "the setting {} cannot be read as a key; restore it from a backup, or remove it and enrol every "
      "agent anew",
      kDashboardKey);
}

}  // namespace dash::agent
