#include "core/storage/store/http_error.hpp"

#include "core/base/text.hpp"
#include "core/net/http/retry_after.hpp"

namespace dash::storage {
namespace {

// Not the codes of net::api_error(): a cloud's 401 is the operator's fault, a dashboard's 401 the caller's.
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
    case 503:
      return Code::busy;
    case 500:
    case 502:
    case 504:
      return Code::unreachable;
    default:
      return Code::upstream;
  }
}

std::string_view status_text(int status) {
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

Error http_error(const net::HttpResponse& response, std::string_view where, const StoreError& refusal) {
  auto error = make_error(code_of(response.status), "{}: {} ({}{}{})", where, status_text(response.status),
                          response.status, refusal.code.empty() ? "" : " ", refusal.code);
  if (!refusal.message.empty()) error.message += ": " + refusal.message;
  error.retry_after = net::retry_after(response.headers);
  return error;
}

}  // namespace dash::storage
