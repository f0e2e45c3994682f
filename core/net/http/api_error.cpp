#include "core/net/http/api_client.hpp"
#include "core/net/http/retry_after.hpp"

namespace dash::net {
namespace {

constexpr std::size_t kMaxQuoted = 500;  // of the server's text in one of our messages

std::string sanitized(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, kMaxQuoted))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return out;
}

// {"detail": [{"loc": ["body", "config"], "msg": "…"}]}
std::string validation_text(const Json& list) {
  std::string out;
  for (const auto& item : list) {
    if (!item.is_object()) continue;
    std::string place;
    if (auto loc = item.find("loc");
        loc != item.end() && loc->is_array() && !loc->empty() && loc->back().is_string())
      place = loc->back().get<std::string>() + ": ";
    out += (out.empty() ? "" : "; ") + place + string_member(item, "msg").value_or("invalid");
  }
  return out;
}

// {"detail": {"error": "policy", "reasons": […]}}
std::string refusal_text(const Json& detail) {
  auto out = string_member(detail, "error").value_or("refused");
  if (auto reasons = detail.find("reasons"); reasons != detail.end() && reasons->is_array())
    for (const auto& reason : *reasons)
      if (reason.is_string()) out += "; " + reason.get<std::string>();
  return out;
}

std::string detail_text(const Json& body) {
  if (!body.is_object()) return "";
  auto detail = body.find("detail");
  if (detail == body.end()) return "";
  if (detail->is_string()) return detail->get<std::string>();
  if (detail->is_array()) return validation_text(*detail);
  if (detail->is_object()) return refusal_text(*detail);
  return "";
}

Code refusal_code(const Json& body) {
  if (!body.is_object()) return Code::forbidden;
  auto detail = body.find("detail");
  if (detail == body.end() || !detail->is_object()) return Code::forbidden;
  auto word = string_member(*detail, "error");
  if (word == "policy") return Code::policy_denied;
  if (word == "needs_approval") return Code::needs_approval;
  if (word == "change_window") return Code::change_window;
  return Code::forbidden;
}

// Not the codes of http_error(): a dashboard's 401 is the caller's fault, a cloud's 401 the operator's.
Code code_of(int status, const Json& body) {
  switch (status) {
    case 401:
      return Code::unauthenticated;
    case 403:
      return refusal_code(body);
    case 404:
      return Code::not_found;
    case 405:
      return Code::method_not_allowed;
    case 409:
      return Code::conflict;
    case 412:
      return Code::precondition;
    case 413:
      return Code::too_large;
    case 416:
      return Code::bad_range;
    case 422:
      return Code::validation;
    case 429:
      return Code::throttled;
    case 501:
      return Code::unsupported;
    case 503:
      return Code::busy;
    case 504:
      return Code::timeout;
    default:
      return status >= 500 ? Code::upstream : Code::invalid;
  }
}

}  // namespace

Error api_error(const HttpResponse& response, std::string_view where) {
  auto status = response.status;
  if (status >= 300 && status < 400) {
    auto to = response.headers.get("Location").value_or("an unnamed place");
    return make_error(Code::upstream,
                      "{} redirects to {}; redirects are not followed, so that a token goes nowhere else. {}",
                      where, sanitized(to),
                      to.ends_with("/setup") ? "The instance is not set up yet" : "Give the final address");
  }
  auto json = parse_json(response.body);
  auto body = json ? *std::move(json) : Json();
  auto text = sanitized(detail_text(body));
  auto error =
      make_error(code_of(status, body), "{} answered {}{}{}", where, status, text.empty() ? "" : ": ", text);
  error.retry_after = retry_after(response.headers);
  if (error.retry_after) error.message += fmt::format(" (try again in {} s)", error.retry_after->count());
  return error;
}

}  // namespace dash::net
