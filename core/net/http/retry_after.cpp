#include "core/net/http/retry_after.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/text.hpp"
#include "core/net/http/http_date.hpp"

namespace dash::net {
namespace {

using std::chrono::seconds;

constexpr seconds kMaxRetryAfter{24 * 3600};

std::optional<seconds> seconds_until(std::string_view date, const std::optional<std::string>& sent) {
  auto at = parse_http_date(std::string(date));
  auto now = parse_http_date(sent.value_or(""));
  if (!at || !now) return std::nullopt;
  return std::chrono::duration_cast<seconds>(*at - *now);
}

}  // namespace

std::optional<seconds> retry_after(const Headers& headers) {
  auto text = headers.get("Retry-After");
  if (!text) return std::nullopt;
  auto value = trim(*text);
  std::int64_t number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  auto time = error == std::errc() && end == value.data() + value.size() && number >= 0
                  ? std::optional(seconds(number))
                  : seconds_until(value, headers.get("Date"));
  if (!time) return std::nullopt;
  return std::clamp(*time, seconds(0), kMaxRetryAfter);
}

}  // namespace dash::net
