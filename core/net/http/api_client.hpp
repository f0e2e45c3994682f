// A dashboard instance over HTTP: base address, trust, login or token, JSON in and out. Responses become
// errors with the code that users and scripts need: 401 and 403, 429 with its Retry-After, a required second
// factor (202), a redirect (named and never followed), the gate's refusals. Every command with --target uses
// it. Once signed in, thread-safe.
#pragma once
#include <chrono>
#include <string>
#include <string_view>

#include "core/base/json.hpp"
#include "core/base/secret.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::net {

struct ApiAddress {
  std::string url;  // http(s)://host[:port][/prefix]
  Trust trust;
  std::chrono::milliseconds timeout{30'000};
};

class ApiClient {
 public:
  // Code::usage for a malformed address, or one with a user name or a query; Code::tls for a CA bundle that
  // cannot be read.
  static Result<ApiClient> open(HttpClient& http, ApiAddress address);

  // Returns the address without a trailing slash, for messages.
  const std::string& url() const { return address_.url; }

  // Calls POST /api/auth/login, form-encoded. Later calls send its token.
  Result<void> login(const std::string& username, const Secret& password);
  void use_token(Secret token) { token_ = std::move(token); }
  bool has_token() const { return !token_.empty(); }

  // `path` starts with '/'. Returns JSON, or null for an empty body. A body that is no JSON is
  // Code::upstream.
  Result<Json> get(std::string_view path) { return call("GET", path, nullptr); }
  // Sends no token: for public resources, before the server is known.
  Result<Json> get_unauthenticated(std::string_view path);
  Result<Json> post(std::string_view path, const Json& body) { return call("POST", path, &body); }
  Result<Json> patch(std::string_view path, const Json& body) { return call("PATCH", path, &body); }
  Result<Json> put(std::string_view path, const Json& body) { return call("PUT", path, &body); }
  Result<Json> remove(std::string_view path) { return call("DELETE", path, nullptr); }

  // Code::upstream: what answered `path` is no dashboard, or an unsupported one.
  Failure unexpected_response(std::string_view path) const;

  // Sends a request whose bodies are not JSON. `request.url` is the path; address, token and trust are added.
  // A status outside of 2xx is an error.
  Result<HttpResponse> send(HttpRequest request);
  // Calls send(), but returns the response whatever its status.
  Result<HttpResponse> exchange(HttpRequest request);

 private:
  ApiClient(HttpClient& http, ApiAddress address) : http_(&http), address_(std::move(address)) {}
  Result<Json> call(std::string_view method, std::string_view path, const Json* body);

  HttpClient* http_;
  ApiAddress address_;
  Secret token_;
};

// Returns the error for a status outside of 2xx; `where` names the instance. Reads {"detail": …} in its three
// shapes (text, list of validation errors, a refusal of the gate).
Error api_error(const HttpResponse& response, std::string_view where);

}  // namespace dash::net
