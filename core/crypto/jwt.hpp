// Our own JSON Web Tokens, with HS256 (RFC 7519, RFC 7518 §3.2). The algorithm belongs to the key, never to
// the token: one that does not begin with our header is not ours.
#pragma once
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/base/secret.hpp"

namespace dash::crypto {

inline constexpr std::size_t kMaxJwtBytes = 8192;

std::string sign_jwt(const Secret& key, const OrderedJson& claims);
// Claims of a token with a good signature that is neither expired nor not yet valid at `now`. One error for
// all that can be wrong with it: Code::unauthenticated.
Result<Json> verify_jwt(const Secret& key, std::string_view token, Time now);

}  // namespace dash::crypto
