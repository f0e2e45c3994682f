// JSON Web Tokens of this instance, with HS256 (RFC 7519, RFC 7518 §3.2). The algorithm belongs to the key,
// never to the token: a token that does not begin with our header is refused.
#pragma once
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/base/secret.hpp"

namespace dash::crypto {

inline constexpr std::size_t kMaxJwtBytes = 8192;

std::string sign_jwt(const Secret& key, const OrderedJson& claims);
// Returns the claims of a token with a good signature that is neither expired nor not yet valid at `now`.
// Every fault gives the same error: Code::unauthenticated.
Result<Json> verify_jwt(const Secret& key, std::string_view token, Time now);

}  // namespace dash::crypto
