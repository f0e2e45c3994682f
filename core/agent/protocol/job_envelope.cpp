#include "core/agent/protocol/job_envelope.hpp"

#include "core/agent/protocol/canonical_json.hpp"
#include "core/crypto/hash.hpp"

namespace dash::agent {

std::string sign_job(const crypto::Ed25519Key& dashboard_key, const Json& job) {
  return crypto::to_base64(crypto::ed25519_sign(dashboard_key, canonical_json(job)));
}

bool is_job_signed_by(std::string_view dashboard_public_key, const Json& job, std::string_view signature) {
  auto key = crypto::from_base64(dashboard_public_key);
  auto bytes = crypto::from_base64(signature);
  return key && key->size() == 32 && bytes && bytes->size() == 64 &&
         crypto::ed25519_verify(*key, canonical_json(job), *bytes);
}

}  // namespace dash::agent
