#include "core/storage/store/oci/client.hpp"

#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"
#include "core/net/http/http_date.hpp"
#include "core/storage/store/backends.hpp"
#include "core/storage/store/http_error.hpp"
#include "core/storage/store/oci/codec.hpp"

namespace dash::storage::oci {
namespace {

constexpr std::string_view kDefaultRegion = "us-ashburn-1";
// Long enough for 8 MiB over a slow line; a stalled line is noticed sooner.
constexpr std::chrono::minutes kTransferDeadline{10};

std::string encoded(const Query& query) {
  std::string out;
  for (const auto& [name, value] : query)
    out += (out.empty() ? "?" : "&") + net::percent_encode(name) + "=" + net::percent_encode(value);
  return out;
}

}  // namespace

Client::Client(Endpoint endpoint, std::string bucket, std::string name, Credentials credentials,
               net::HttpClient& http, const Clock& clock)
    : endpoint_(std::move(endpoint)),
      bucket_(std::move(bucket)),
      credentials_(std::move(credentials)),
      http_(http),
      clock_(clock),
      namespace_(std::make_unique<Namespace>()) {
  namespace_->name = std::move(name);
}

Result<net::HttpResponse> Client::execute(Call call) {
  auto name = TRY(name_space());
  return send(call, fmt::format("{}/n/{}/b/{}{}{}", endpoint_.path(), net::percent_encode(name),
                                net::percent_encode(bucket_), call.path, encoded(call.query)));
}

Result<std::string> Client::name_space() {
  std::lock_guard lock(namespace_->mutex);
  if (namespace_->name.empty()) {
    Call call{.what = "looking the namespace up"};
    namespace_->name = TRY(parse_namespace(TRY(send(call, fmt::format("{}/n", endpoint_.path()))).body));
  }
  return namespace_->name;
}

Result<net::HttpResponse> Client::send(const Call& call, const std::string& target) {
  net::HttpRequest request;
  request.method = call.method;
  request.url = endpoint_.url.substr(0, endpoint_.url.size() - endpoint_.path().size()) + target;
  request.headers = sign(credentials_, {call.method, target, endpoint_.host(), call.json},
                         net::format_http_date(clock_.now()));
  for (const auto& [name, value] : call.headers) request.headers.add(name, value);
  if (call.bytes) {
    request.headers.add("content-type", "application/octet-stream");
    request.headers.add("content-md5", crypto::to_base64(crypto::md5(*call.bytes)));
  }
  request.body = call.json ? *call.json : call.bytes.value_or("");
  request.trust = endpoint_.trust;
  request.body_sink = call.body_sink;
  if (call.bytes || call.body_sink) request.timeout = kTransferDeadline;
  auto response = TRY(http_.send(request));
  if (!response.ok()) return Failure(to_error(call, response));
  return response;
}

Error Client::to_error(const Call& call, const net::HttpResponse& response) const {
  auto service_error = parse_error(response.body);
  auto error = http_error(response, fmt::format("{}: {}", place(), call.what),
                          {service_error.code, service_error.message});
  // The service has one code for a missing bucket and for one that this key may not read.
  if (service_error.code == "BucketNotFound" || service_error.code == "NamespaceNotFound") {
    error.code = Code::upstream;
    error.message +=
        "; check storage_obj_cloud4_bucket, storage_obj_cloud4_namespace and what the API key's user may do";
  }
  if (response.status == 401 || response.status == 403)
    error.message +=
        "; check cloud4_tenancy_ocid, cloud4_user_ocid, cloud4_fingerprint and cloud4_private_key" +
        clock_note(response.headers, clock_.now());
  return error;
}

Result<Client> open_client(const config::Values& values, net::HttpClient& http, const Clock& clock) {
  auto setting = [&](std::string_view key) { return std::string(trim(value_of(values, key))); };
  auto bucket = setting("storage_obj_cloud4_bucket");
  if (bucket.empty()) return fail(Code::invalid, "storage_obj_cloud4_bucket is not set");
  auto region = setting("cloud4_region");
  auto usual = fmt::format("https://objectstorage.{}.oraclecloud.com",
                           region.empty() ? std::string(kDefaultRegion) : lower(region));
  auto endpoint = TRY(read_endpoint(values, "obj_cloud4", usual));
  auto credentials =
      TRY(read_credentials(setting("cloud4_tenancy_ocid"), setting("cloud4_user_ocid"),
                           setting("cloud4_fingerprint"), Secret(value_of(values, "cloud4_private_key")),
                           Secret(value_of(values, "cloud4_private_key_passphrase"))));
  return Client(std::move(endpoint), std::move(bucket), setting("storage_obj_cloud4_namespace"),
                std::move(credentials), http, clock);
}

}  // namespace dash::storage::oci
