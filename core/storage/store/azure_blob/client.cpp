#include "core/storage/store/azure_blob/client.hpp"

#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/config/settings.hpp"
#include "core/net/http/http_date.hpp"
#include "core/storage/store/azure_blob/codec.hpp"
#include "core/storage/store/backends.hpp"
#include "core/storage/store/http_error.hpp"

namespace dash::storage::azure_blob {
namespace {

// Percent-encoded names in listings came with 2021-02-12; nothing newer is needed.
constexpr std::string_view kVersion = "2021-12-02";
constexpr std::string_view kDefaultContainer = "playbooks";
// Long enough for 8 MiB over a slow line; a stalled line is noticed sooner.
constexpr std::chrono::minutes kTransferDeadline{10};
constexpr std::size_t kLargeBody = 1u << 20;

Result<BearerToken> fetch_token(const ServicePrincipal& principal, const net::Trust& trust,
                                net::HttpClient& http, const Clock& clock) {
  auto body = token_request(principal);
  net::HttpRequest request;
  request.method = "POST";
  request.url = principal.token_url;
  request.headers.add("Content-Type", "application/x-www-form-urlencoded");
  request.body = body.expose();
  request.trust = trust;
  auto response = TRY(http.send(request));
  if (response.ok()) return parse_bearer(response.body);
  // RFC 6749 §5.2. The description is left out: it repeats ids and a trace.
  auto json = parse_json(response.body);
  auto word = json && json->is_object() ? string_member(*json, "error").value_or("") : "";
  auto error = http_error(
      response, fmt::format("{}: fetching an access token", net::origin_of(principal.token_url)), {word, ""});
  if (response.status < 500 && response.status != 429) {
    error.code = Code::upstream;
    error.message +=
        "; check cloud2_tenant_id, cloud2_client_id, cloud2_client_secret and cloud2_authority_host" +
        clock_note(response.headers, clock.now());
  }
  return Failure(std::move(error));
}

std::string encoded(const std::vector<std::pair<std::string, std::string>>& query) {
  std::string out;
  for (const auto& [name, value] : query)
    out += (out.empty() ? "?" : "&") + net::percent_encode(name) + "=" + net::percent_encode(value);
  return out;
}

// A server without a host name for each account (Azurite) has the account in its path.
void add_account(Endpoint& endpoint, std::string_view account, bool is_path_style) {
  if (is_path_style && endpoint.path() != "/" + std::string(account))
    endpoint.url += "/" + std::string(account);
}

// A server that reads the account from the credentials alone has several behind one address.
bool names_account(const Endpoint& endpoint, std::string_view account) {
  auto path = std::string(endpoint.path()) + "/";
  return endpoint.host().starts_with(std::string(account) + ".") ||
         path.find(fmt::format("/{}/", account)) != path.npos;
}

}  // namespace

Client::Client(Endpoint endpoint, std::string account, std::string container, std::optional<AccountKey> key,
               std::unique_ptr<BearerCache> tokens, net::HttpClient& http, const Clock& clock)
    : place_(fmt::format("{}{}/{}", endpoint.url, names_account(endpoint, account) ? "" : "/" + account,
                         container)),
      endpoint_(std::move(endpoint)),
      container_(std::move(container)),
      key_(std::move(key)),
      tokens_(std::move(tokens)),
      http_(http),
      clock_(clock) {}

std::string Client::url_of(std::string_view container, std::string_view key) const {
  return fmt::format("{}/{}/{}", endpoint_.url,
                     net::percent_encode(container.empty() ? container_ : container),
                     net::percent_encode(key, /*keep_slash=*/true));
}

Result<net::HttpResponse> Client::execute(const Call& call, std::string* code) {
  RequestToSign request{call.method, fmt::format("{}/{}", endpoint_.path(), net::percent_encode(container_)),
                        call.query, call.headers, call.body.size()};
  if (!call.key.empty()) request.path += "/" + net::percent_encode(call.key, /*keep_slash=*/true);
  request.headers.add("x-ms-date", net::format_http_date(clock_.now()));
  request.headers.add("x-ms-version", std::string(kVersion));
  // Otherwise it is sent by default with a body, and then missing in what is signed.
  if (!call.body.empty()) request.headers.add("Content-Type", "application/octet-stream");
  auto token = tokens_ ? TRY(tokens_->get()) : Secret();
  auto response = TRY(send(request, call, token));
  if (response.status == 401 && tokens_) {
    tokens_->drop(token);
    response = TRY(send(request, call, TRY(tokens_->get())));
  }
  if (!response.ok()) return Failure(to_error(call, response, code));
  return response;
}

Result<net::HttpResponse> Client::send(const RequestToSign& request, const Call& call, const Secret& token) {
  net::HttpRequest http;
  http.method = request.method;
  http.url = endpoint_.url.substr(0, endpoint_.url.size() - endpoint_.path().size()) + request.path +
             encoded(request.query);
  http.headers = request.headers;
  http.headers.add("Authorization", key_ ? shared_key(*key_, request) : "Bearer " + token.expose());
  http.body = call.body;
  http.body_sink = call.body_sink;
  http.trust = endpoint_.trust;
  if (call.body.size() > kLargeBody || call.body_sink) http.timeout = kTransferDeadline;
  return http_.send(http);
}

Error Client::to_error(const Call& call, const net::HttpResponse& response, std::string* code) const {
  auto service_error = parse_error(response.body);
  if (service_error.code.empty()) service_error.code = response.headers.get("x-ms-error-code").value_or("");
  if (code) *code = service_error.code;
  auto error = http_error(response, fmt::format("{}: {}", place(), call.what),
                          {service_error.code, service_error.message});
  if (response.status == 401 || response.status == 403)
    error.message += (key_ ? "; check storage_obj_cloud2_account and storage_obj_cloud2_account_key"
                           : "; check cloud2_client_id and that it may change blob data in the account") +
                     clock_note(response.headers, clock_.now());
  return error;
}

Result<Client> open_client(const config::Values& values, net::HttpClient& http, const Clock& clock) {
  auto setting = [&](std::string_view key) { return std::string(trim(value_of(values, key))); };
  auto account = setting("storage_obj_cloud2_account");
  if (account.empty()) return fail(Code::invalid, "storage_obj_cloud2_account is not set");
  auto container = setting("storage_obj_cloud2_container");
  if (container.empty()) container = kDefaultContainer;
  auto endpoint =
      TRY(read_endpoint(values, "obj_cloud2", fmt::format("https://{}.blob.core.windows.net", account)));
  add_account(endpoint, account,
              TRY(config::parse_flag("storage_obj_cloud2_path_style",
                                     setting("storage_obj_cloud2_path_style"), false)));
  if (auto key = Secret(value_of(values, "storage_obj_cloud2_account_key")); !key.empty())
    return Client(std::move(endpoint), account, std::move(container), TRY(read_account_key(account, key)),
                  nullptr, http, clock);
  auto principal = TRY(read_service_principal(setting("cloud2_authority_host"), setting("cloud2_tenant_id"),
                                              setting("cloud2_client_id"),
                                              Secret(value_of(values, "cloud2_client_secret"))));
  auto fetch = [principal, trust = endpoint.trust, &http, &clock] {
    return fetch_token(principal, trust, http, clock);
  };
  auto tokens = std::make_unique<BearerCache>(clock, std::move(fetch));
  return Client(std::move(endpoint), account, std::move(container), std::nullopt, std::move(tokens), http,
                clock);
}

}  // namespace dash::storage::azure_blob
