#include "core/storage/store/bearer.hpp"

#include <algorithm>

#include "core/base/json.hpp"
#include "core/base/text.hpp"

namespace dash::storage {
namespace {

// A token is dropped this long before its end (or at nine tenths of a short life), so that none expires on
// its way.
constexpr std::chrono::seconds kRenewalMargin{60};
// RFC 6749 leaves expires_in out where the lifetime is known otherwise. Here it is not.
constexpr std::chrono::seconds kUnknownLifetime{300};

// Some servers write the number as text.
std::chrono::seconds lifetime_of(const Json& json) {
  auto it = json.find("expires_in");
  if (it == json.end()) return kUnknownLifetime;
  auto number = it->is_string()           ? std::atoll(it->get_ref<const std::string&>().c_str())
                : it->is_number_integer() ? it->get<long long>()
                                          : 0;
  return std::chrono::seconds(std::clamp(number, 0LL, 7LL * 24 * 3600));
}

}  // namespace

Result<BearerToken> parse_bearer(std::string_view text) {
  auto json = parse_json(text);
  auto token = json && json->is_object() ? string_member(*json, "access_token") : std::nullopt;
  auto type = token ? string_member(*json, "token_type").value_or("Bearer") : "";
  bool is_plain = token && !token->empty() && lower(type) == "bearer";
  if (is_plain)
    is_plain = std::all_of(token->begin(), token->end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!is_plain) return fail(Code::upstream, "the token endpoint answered without a bearer token");
  return BearerToken{Secret(*std::move(token)), lifetime_of(*json)};
}

Result<Secret> BearerCache::get() {
  std::lock_guard lock(mutex_);
  if (!token_ || clock_.steady_now() >= expires_at_) {
    token_.reset();
    auto requested_at = clock_.steady_now();
    auto bearer = TRY(fetch_());
    expires_at_ = requested_at + bearer.lifetime -
                  std::min<std::chrono::milliseconds>(kRenewalMargin, bearer.lifetime / 10);
    token_ = std::move(bearer.token);
  }
  return *token_;
}

void BearerCache::drop(const Secret& refused) {
  std::lock_guard lock(mutex_);
  if (token_ && token_->expose() == refused.expose()) token_.reset();
}

}  // namespace dash::storage
