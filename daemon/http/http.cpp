#include "daemon/http/http.hpp"

#include <algorithm>

#include "core/base/redact.hpp"

namespace dash::daemon {

std::optional<std::string> Fields::get(std::string_view name) const {
  auto found =
      std::find_if(list_.begin(), list_.end(), [&](const auto& field) { return field.first == name; });
  if (found == list_.end()) return std::nullopt;
  return found->second;
}

std::string Fields::get_or(std::string_view name, std::string_view otherwise) const {
  return get(name).value_or(std::string(otherwise));
}

const std::string& Request::param(std::string_view name) const {
  static const std::string kNone;
  auto found = params.find(name);
  return found == params.end() ? kNone : found->second;
}

Response text_response(int status, std::string_view content_type, std::string body) {
  Response response;
  response.status = status;
  response.content_type = content_type;
  response.body = std::move(body);
  return response;
}

Response json_response(int status, const OrderedJson& body) {
  return text_response(status, "application/json", dump_json(body));
}

Response json_response(int status, const Json& body) {
  return text_response(status, "application/json", dump_json(body));
}

Response error_response(const Error& error) {
  OrderedJson body;
  if (error.body) {
    body["detail"] = *error.body;
  } else {
    body["detail"] = without_userinfo(error.message);
  }
  auto response = json_response(info(error.code).http_status, body);
  if (error.retry_after) response.headers.add("Retry-After", std::to_string(error.retry_after->count()));
  return response;
}

}  // namespace dash::daemon
