// The signature of a request that an agent sends: Ed25519 over the canonical JSON of audience, agent, method,
// nonce, path, digest of the body, and time. The headers carry what the message needs and the receiver does
// not have.
#pragma once
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/crypto/keys.hpp"

namespace dash::agent {

inline constexpr std::string_view kAgentIdHeader = "X-Agent-Id";
inline constexpr std::string_view kTimestampHeader = "X-Agent-Timestamp";
inline constexpr std::string_view kNonceHeader = "X-Agent-Nonce";
inline constexpr std::string_view kSignatureHeader = "X-Agent-Signature";
inline constexpr std::chrono::seconds kSignatureWindow{60};  // either way
inline constexpr std::size_t kMaxNonceChars = 64;

struct RequestToSign {
  std::string audience;   // the dashboard's pinned origin
  std::string agent_id;   //
  std::string method;     // in any case; signed in upper case
  std::string path;       // without the query
  std::string nonce;      // 1 to kMaxNonceChars
  std::string timestamp;  // whole seconds since 1970, as text
};

std::string request_message(const RequestToSign& request, std::string_view body_sha256_hex);
// Returns the value of kSignatureHeader.
std::string sign_request(const crypto::Ed25519Key& key, const RequestToSign& request, std::string_view body);
// `public_key` and `signature` are standard base64, read strictly.
bool is_signed_by(std::string_view public_key, const RequestToSign& request, std::string_view body_sha256_hex,
                  std::string_view signature);
// Returns whether the text is a time within kSignatureWindow of `now`.
bool is_fresh(std::string_view timestamp, Time now);

}  // namespace dash::agent
