#include "core/crypto/jwt.hpp"

#include "core/crypto/hash.hpp"

namespace dash::crypto {
namespace {

// Every token of this instance begins with it, and no other does, so no header needs to be interpreted.
const std::string& header() {
  static const std::string text = to_base64url(R"({"alg":"HS256","typ":"JWT"})");
  return text;
}

Result<Json> decode_object(std::string_view segment) {
  auto text = from_base64url(segment);
  if (!text) return fail(Code::unauthenticated, "not a token");
  auto json = TRY(parse_json(*text));
  if (!json.is_object()) return fail(Code::unauthenticated, "not a token");
  return json;
}

// An absent NumericDate is valid; one of another type is not.
bool is_date_valid(const Json& claims, const char* name, auto&& test) {
  auto it = claims.find(name);
  if (it == claims.end()) return true;
  return it->is_number() && test(it->get<double>());
}

}  // namespace

std::string sign_jwt(const Secret& key, const OrderedJson& claims) {
  auto signed_part = header() + "." + to_base64url(dump_json(claims));
  return signed_part + "." + to_base64url(hmac_sha256(key.expose(), signed_part));
}

Result<Json> verify_jwt(const Secret& key, std::string_view token, Time now) {
  auto invalid_token = [] { return fail(Code::unauthenticated, "Invalid or expired token"); };
  auto first = token.find('.');
  auto last = token.rfind('.');
  if (token.size() > kMaxJwtBytes || first == token.npos || first == last) return invalid_token();
  if (token.find('.', first + 1) != last || token.substr(0, first) != header()) return invalid_token();
  auto signature = from_base64url(token.substr(last + 1));
  if (!signature || !equal_constant_time(*signature, hmac_sha256(key.expose(), token.substr(0, last))))
    return invalid_token();
  auto claims = decode_object(token.substr(first + 1, last - first - 1));
  if (!claims) return invalid_token();
  auto seconds = static_cast<double>(to_micros(now)) / 1e6;
  if (!claims->contains("exp") || !is_date_valid(*claims, "exp", [&](double t) { return seconds < t; }) ||
      !is_date_valid(*claims, "nbf", [&](double t) { return seconds >= t; }))
    return invalid_token();
  return *std::move(claims);
}

}  // namespace dash::crypto
