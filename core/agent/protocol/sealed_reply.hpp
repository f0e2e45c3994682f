// A secret that only the agent's reply key of one job opens: X25519, HKDF-SHA256, AES-256-GCM. What the
// secret is for (agent, audience, job, reference) is bound to the text and not part of it.
#pragma once
#include <string>
#include <string_view>

#include "core/base/json.hpp"
#include "core/base/secret.hpp"
#include "core/crypto/x25519.hpp"

namespace dash::agent {

struct SealBinding {
  std::string agent_id;
  std::string audience;
  std::string job_id;
  std::string ref;  // of what the secret opens: the share, or the host
};

// Returns the 32 bytes of a reply key. Code::invalid when the text is not their standard base64.
Result<std::string> read_reply_key(std::string_view base64);
// Returns {v, alg, epk, nonce, ct}. Code::invalid when no secret can be agreed with the key.
Result<OrderedJson> seal_reply(const Secret& secret, std::string_view reply_key, const SealBinding& binding);
// Code::integrity when the envelope, the key or the binding is another. Members that it does not know pass.
Result<Secret> open_reply(const Json& sealed, const crypto::X25519Key& reply_key, const SealBinding& binding);

}  // namespace dash::agent
