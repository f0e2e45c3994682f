#include "core/storage/store/gcs/client.hpp"

#include "core/base/text.hpp"
#include "core/storage/store/backends.hpp"
#include "core/storage/store/gcs/codec.hpp"
#include "core/storage/store/gcs/sign.hpp"
#include "core/storage/store/http_error.hpp"

namespace dash::storage::gcs {
namespace {

constexpr std::string_view kDefaultEndpoint = "https://storage.googleapis.com";
// Long enough for 8 MiB over a slow line; a stalled line is noticed sooner.
constexpr std::chrono::minutes kTransferDeadline{10};
constexpr std::size_t kLargeBody = 1u << 20;

// The function of a bearer cache: one exchange of an assertion for a token.
Result<BearerToken> fetch_token(const ServiceAccount& account, const net::Trust& trust, net::HttpClient& http,
                                const Clock& clock) {
  auto body = token_request(sign_assertion(account, clock.now()));
  net::HttpRequest request;
  request.method = "POST";
  request.url = account.token_uri;
  request.headers.add("Content-Type", "application/x-www-form-urlencoded");
  request.body = body;
  request.trust = trust;
  auto response = TRY(http.send(request));
  if (response.ok()) return parse_bearer(response.body);
  auto service_error = parse_error(response.body);
  auto error = http_error(response, fmt::format("{}: fetching an access token", account.token_uri),
                          {service_error.code, service_error.message});
  if (response.status < 500 && response.status != 429) {
    error.code = Code::upstream;
    error.message +=
        "; check the credentials in cloud3_service_account_json" + clock_note(response.headers, clock.now());
  }
  return Failure(std::move(error));
}

// Errors of the API that mean slowing down (cloud.google.com, "HTTP status and error codes for JSON").
bool is_rate_limit(std::string_view code) {
  return code == "rateLimitExceeded" || code == "userRateLimitExceeded" || code == "quotaExceeded";
}

}  // namespace

Client::Client(Endpoint endpoint, std::string bucket, std::unique_ptr<BearerCache> tokens,
               net::HttpClient& http, const Clock& clock)
    : endpoint_(std::move(endpoint)),
      bucket_(std::move(bucket)),
      tokens_(std::move(tokens)),
      http_(http),
      clock_(clock) {}

Result<net::HttpResponse> Client::execute(const Call& call) {
  auto response = TRY(execute_raw(call));
  if (!response.ok()) return Failure(to_error(call, response));
  return response;
}

Result<net::HttpResponse> Client::execute_raw(const Call& call) {
  if (call.is_session) return send(call, Secret());
  auto token = TRY(tokens_->get());
  auto response = TRY(send(call, token));
  if (response.status != 401) return response;
  tokens_->drop(token);
  return send(call, TRY(tokens_->get()));
}

Result<net::HttpResponse> Client::send(const Call& call, const Secret& token) {
  net::HttpRequest request;
  request.method = call.method;
  request.url = endpoint_.url + call.target;
  request.headers = call.headers;
  if (!token.empty()) request.headers.add("Authorization", "Bearer " + token.expose());
  request.body = call.body;
  request.body_sink = call.body_sink;
  request.trust = endpoint_.trust;
  if (call.body.size() > kLargeBody || call.body_sink) request.timeout = kTransferDeadline;
  return http_.send(request);
}

Error Client::to_error(const Call& call, const net::HttpResponse& response) const {
  auto service_error = parse_error(response.body);
  auto error = http_error(response, fmt::format("{}: {}", place(), call.what),
                          {service_error.code, service_error.message});
  bool is_no_bucket = response.status == 404 &&
                      service_error.message.find("bucket does not exist") != service_error.message.npos;
  if (is_no_bucket) {
    error.code = Code::upstream;
    error.message += "; check storage_obj_cloud3_bucket";
  } else if (is_rate_limit(service_error.code)) {
    error.code = Code::busy;
  } else if (response.status == 401 || response.status == 403) {
    error.message += "; check cloud3_service_account_json and what that account may do with the bucket" +
                     clock_note(response.headers, clock_.now());
  }
  return error;
}

Result<Client> open_client(const config::Values& values, net::HttpClient& http, const Clock& clock) {
  std::string bucket(trim(value_of(values, "storage_obj_cloud3_bucket")));
  if (bucket.empty()) return fail(Code::invalid, "storage_obj_cloud3_bucket is not set");
  auto endpoint = TRY(read_endpoint(values, "obj_cloud3", kDefaultEndpoint));
  auto account = TRY(read_service_account(Secret(value_of(values, "cloud3_service_account_json"))));
  auto fetch = [account, trust = endpoint.trust, &http, &clock] {
    return fetch_token(account, trust, http, clock);
  };
  auto tokens = std::make_unique<BearerCache>(clock, std::move(fetch));
  return Client(std::move(endpoint), std::move(bucket), std::move(tokens), http, clock);
}

}  // namespace dash::storage::gcs
