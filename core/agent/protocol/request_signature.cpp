#include "core/agent/protocol/request_signature.hpp"

#include <charconv>

#include "core/agent/protocol/canonical_json.hpp"
#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"

namespace dash::agent {
namespace {

std::string upper(std::string_view text) {
  std::string out(text);
  for (auto& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

}  // namespace

std::string request_message(const RequestToSign& request, std::string_view body_sha256_hex) {
  return canonical_json({{"aud", request.audience},
                         {"id", request.agent_id},
                         {"method", upper(request.method)},
                         {"nonce", request.nonce},
                         {"path", request.path},
                         {"sha256", body_sha256_hex},
                         {"ts", request.timestamp}});
}

std::string sign_request(const crypto::Ed25519Key& key, const RequestToSign& request, std::string_view body) {
  auto message = request_message(request, crypto::to_hex(crypto::sha256(body)));
  return crypto::to_base64(crypto::ed25519_sign(key, message));
}

bool is_signed_by(std::string_view public_key, const RequestToSign& request, std::string_view body_sha256_hex,
                  std::string_view signature) {
  auto key = crypto::from_base64(public_key);
  auto bytes = crypto::from_base64(signature);
  return key && key->size() == 32 && bytes && bytes->size() == 64 &&
         crypto::ed25519_verify(*key, request_message(request, body_sha256_hex), *bytes);
}

bool is_fresh(std::string_view timestamp, Time now) {
  auto text = trim(timestamp);
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t seconds = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return false;
  // Beyond these a difference could overflow, and none is near any clock.
  if (seconds < 0 || seconds > 1'000'000'000'000) return false;
  auto apart = to_micros(now) - seconds * 1'000'000;
  auto window = std::chrono::microseconds(kSignatureWindow).count();
  return apart >= -window && apart <= window;
}

}  // namespace dash::agent
