// The key that signs jobs: minted once, kept in the encrypted configuration (agent_envelope_signing_key, the
// base64 of its seed).
#pragma once
#include "core/agent/dashboard/deps.hpp"
#include "core/crypto/keys.hpp"

namespace dash::agent {

// Mints it where there is none. Code::conflict when it is there and cannot be read: another one would lock out
// every agent that trusts the first.
Result<crypto::Ed25519Key> dashboard_key(db::Transaction& tx, config::EncryptedStore& config);

}  // namespace dash::agent
