#include "core/storage/http_error.hpp"

#include <charconv>

#include "core/base/text.hpp"
#include "core/net/http_date.hpp"

namespace dash::storage {
namespace {

Code code_of(int status) {
  switch (status) {
    case 404:
      return Code::not_found;
    case 408:
      return Code::busy;
    case 409:
      return Code::conflict;
    case 412:
      return Code::precondition;
    case 413:
      return Code::too_large;
    case 416:
      return Code::bad_range;
    case 429:
      return Code::busy;
    case 500:
      return Code::unreachable;
    case 502:
      return Code::unreachable;
    case 503:
      return Code::busy;
    case 504:
      return Code::unreachable;
    default:
      return Code::upstream;
  }
}

std::string_view verdict(int status) {
  switch (status) {
    case 401:
    case 403:
      return "the store refused the credentials or their permissions";
    case 404:
      return "the store has no such object";
    case 409:
      return "the store reports a conflict";
    case 412:
      return "the object is not what the request demands";
    case 408:
    case 429:
    case 503:
      return "the store asks to slow down; try again later";
    case 500:
    case 502:
    case 504:
      return "the store fails at the moment; try again later";
    default:
      return "the store refused";
  }
}

}  // namespace

std::optional<std::chrono::seconds> retry_after(const net::Headers& headers) {
  auto text = headers.get("Retry-After");
  if (!text) return std::nullopt;
  auto value = trim(*text);
  long seconds = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error == std::errc() && end == value.data() + value.size() && seconds >= 0)
    return std::chrono::seconds(seconds);
  auto at = net::parse_http_date(std::string(value));
  auto now = net::parse_http_date(headers.get("Date").value_or(""));
  if (!at || !now) return std::nullopt;
  return std::max(std::chrono::seconds(0), std::chrono::duration_cast<std::chrono::seconds>(*at - *now));
}

Error http_error(const net::HttpResponse& response, std::string_view where, const StoreRefusal& refusal) {
  Error error;
  error.code = code_of(response.status);
  error.message = fmt::format("{}: {} ({}{}{})", where, verdict(response.status), response.status,
                              refusal.code.empty() ? "" : " ", refusal.code);
  if (!refusal.message.empty()) error.message += ": " + refusal.message;
  error.retry_after = retry_after(response.headers);
  return error;
}

}  // namespace dash::storage
