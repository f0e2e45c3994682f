#include "core/net/http/api_client.hpp"

#include "core/base/file.hpp"
#include "core/base/text.hpp"

namespace dash::net {
namespace {

constexpr std::size_t kMaxBundleBytes = 8u << 20;

Result<void> check_url(const std::string& url) {
  auto is_http = url.starts_with("http://") || url.starts_with("https://");
  auto rest = is_http ? std::string_view(url).substr(url.find("://") + 3) : std::string_view();
  if (rest.empty() || rest.starts_with('/'))
    return fail(Code::usage, "'{}' is not the address of an instance: write http://HOST or https://HOST",
                origin_of(url));
  if (rest.substr(0, rest.find('/')).find('@') != rest.npos)
    return fail(Code::usage, "the address {} carries a user name: pass it by its own flag", origin_of(url));
  if (url.find_first_of("?# \t\r\n") != url.npos)
    return fail(Code::usage, "the address of an instance has no query: {}", origin_of(url));
  return {};
}

// Reports a wrong --ca-bundle before any connection is made.
Result<void> check_trust(const Trust& trust) {
  if (trust.ca_bundle.empty() || trust.insecure) return {};
  auto pem = read_file(trust.ca_bundle, kMaxBundleBytes);
  if (!pem) return fail(Code::tls, "the CA bundle cannot be used: {}", pem.error().message);
  if (pem->find("-----BEGIN") == std::string::npos)
    return fail(Code::tls, "the CA bundle {} holds no PEM certificate", trust.ca_bundle);
  return {};
}

Error with_hint(Error error, const std::string& url) {
  if (error.code == Code::tls) {
    error.message = fmt::format(
        "Cannot reach {}: {}. Behind a proxy that inspects TLS, pass its root certificate with --ca-bundle "
        "FILE (--insecure "
        "skips the check altogether)",
        url, error.message);
  } else if (error.code == Code::unreachable || error.code == Code::timeout) {
    std::string_view cause = error.message;
    auto prefix = fmt::format("cannot reach {}: ", origin_of(url));
    if (cause.starts_with(prefix)) cause.remove_prefix(prefix.size());
    error.message = fmt::format("Cannot reach {}: {}", url, cause);
  }
  return error;
}

}  // namespace

Result<ApiClient> ApiClient::open(HttpClient& http, ApiAddress address) {
  address.url = std::string(trim(address.url));
  auto scheme_end = std::min(address.url.find("://"), address.url.size());
  address.url.replace(0, scheme_end, lower(address.url.substr(0, scheme_end)));
  while (address.url.ends_with('/')) address.url.pop_back();
  TRY(check_url(address.url));
  TRY(check_trust(address.trust));
  return ApiClient(http, std::move(address));
}

Result<HttpResponse> ApiClient::exchange(HttpRequest request) {
  request.url = address_.url + request.url;
  request.trust = address_.trust;
  if (request.timeout == HttpRequest{}.timeout) request.timeout = address_.timeout;
  if (!token_.empty()) request.headers.add("Authorization", "Bearer " + token_.expose());
  auto response = http_->send(request);
  if (!response) return Failure(with_hint(std::move(response).error(), address_.url));
  return response;
}

Result<HttpResponse> ApiClient::send(HttpRequest request) {
  auto response = TRY(exchange(std::move(request)));
  if (!response.ok()) return Failure(api_error(response, address_.url));
  return response;
}

Failure ApiClient::unexpected_response(std::string_view path) const {
  return fail(Code::upstream, "{} answered {} in an unknown shape: is this the address of a dashboard?",
              url(), path);
}

Result<Json> ApiClient::get_unauthenticated(std::string_view path) {
  auto saved = std::exchange(token_, Secret());
  auto answer = get(path);
  token_ = std::move(saved);
  return answer;
}

Result<Json> ApiClient::call(std::string_view method, std::string_view path, const Json* body) {
  auto text = body ? dump_json(*body) : std::string();
  HttpRequest request;
  request.method = method;
  request.url = path;
  request.headers.add("Accept", "application/json");
  if (body) request.headers.add("Content-Type", "application/json");
  request.body = text;
  auto response = TRY(send(std::move(request)));
  if (response.body.empty()) return Json();
  auto json = parse_json(response.body);
  if (!json)
    return fail(Code::upstream, "{} answered {} without JSON: is this the address of a dashboard?",
                address_.url, path);
  return json;
}

Result<void> ApiClient::login(const std::string& username, const Secret& password) {
  Secret form(form_encode({{"username", username}, {"password", password.expose()}}));
  HttpRequest request;
  request.method = "POST";
  request.url = "/api/auth/login";
  request.headers = {{"Accept", "application/json"}, {"Content-Type", "application/x-www-form-urlencoded"}};
  request.body = form.expose();
  auto response = TRY(within("login", send(std::move(request))));
  if (response.status == 202)
    return fail(Code::unauthenticated,
                "login: {} asks {} for a second factor, which only a browser can give: sign in there and "
                "pass the JWT "
                "with --token-file",
                address_.url, username);
  auto json = parse_json(response.body);
  auto token = json && json->is_object() ? string_member(*json, "access_token") : std::nullopt;
  if (!token || token->empty())
    return fail(Code::upstream, "login: {} answered without a token: is this the address of a dashboard?",
                address_.url);
  token_ = Secret(*std::move(token));
  return {};
}

}  // namespace dash::net
