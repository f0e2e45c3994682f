#include "core/storage/store/gcs/sign.hpp"

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::storage::gcs {
namespace {

constexpr std::string_view kSetting = "cloud3_service_account_json";
constexpr std::string_view kGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";

Result<std::string> required_member(const Json& json, const char* member) {
  auto value = string_member(json, member);
  if (!value || value->empty())
    return fail(Code::invalid, "{} has no '{}': paste the whole key file of a service account", kSetting,
                member);
  return *std::move(value);
}

}  // namespace

Result<ServiceAccount> read_service_account(const Secret& text) {
  if (trim(text.expose()).empty())
    return fail(Code::invalid, "{} is not set: Google Cloud Storage needs a service account", kSetting);
  auto json = parse_json(text.expose());
  if (!json || !json->is_object())
    return fail(Code::invalid, "{} is not JSON: paste the whole key file of a service account", kSetting);
  if (auto type = string_member(*json, "type"); type && *type != "service_account")
    return fail(Code::invalid, "{} is a key file of type '{}', not of a service account", kSetting, *type);
  auto email = TRY(required_member(*json, "client_email"));
  auto token_uri = TRY(required_member(*json, "token_uri"));
  Secret pem(TRY(required_member(*json, "private_key")));
  auto key = TRY(within(kSetting, crypto::RsaKey::from_pem(pem, Secret())));
  return ServiceAccount{std::move(email), string_member(*json, "private_key_id").value_or(""),
                        std::move(token_uri), std::move(key)};
}

std::string sign_assertion(const ServiceAccount& account, Time now) {
  auto issued = to_micros(now) / 1'000'000;
  OrderedJson header{{"alg", "RS256"}, {"typ", "JWT"}};
  if (!account.key_id.empty()) header["kid"] = account.key_id;
  OrderedJson claims{{"iss", account.client_email},
                     {"scope", kScope},
                     {"aud", account.token_uri},
                     {"iat", issued},
                     {"exp", issued + std::chrono::seconds(kAssertionLifetime).count()}};
  auto text = crypto::to_base64url(dump_json(header)) + "." + crypto::to_base64url(dump_json(claims));
  return text + "." + crypto::to_base64url(account.key.sign_sha256(text));
}

std::string token_request(std::string_view assertion) {
  return net::form_encode({{"grant_type", kGrant}, {"assertion", assertion}});
}

}  // namespace dash::storage::gcs
