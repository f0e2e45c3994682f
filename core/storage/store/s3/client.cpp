#include "core/storage/store/s3/client.hpp"

#include "core/crypto/hash.hpp"
#include "core/storage/store/s3/errors.hpp"

namespace dash::storage::s3 {
namespace {

// A page of 1,000 entries with the longest keys, all escaped, is below 5 MiB.
constexpr std::size_t kMaxXml = 16u << 20;

}  // namespace

Result<net::HttpResponse> Client::call(const Call& what) const {
  auto now = clock_->now();
  auto path = address_.path_of(what.key);
  auto query = canonical_query(what.query);
  net::HttpRequest request;
  request.method = what.method;
  request.url = address_.url_of(path, query);
  request.headers = signed_headers(what, path, query, now);
  request.body = what.body;
  request.body_sink = what.body_sink;
  request.trust.ca_bundle = address_.ca_file;
  request.timeout = std::chrono::milliseconds(0);
  request.idle_timeout = what.idle_timeout;
  request.max_body = kMaxXml;
  auto answer = TRY(within(where(what.doing), http_->send(request)));
  if (answer.ok()) return answer;
  return Failure(read_error(answer, address_, where(what.doing), now));
}

net::Headers Client::signed_headers(const Call& what, std::string_view path, std::string_view query,
                                    Time now) const {
  auto headers = what.headers;
  auto hash =
      crypto::to_hex(what.body_sha256.empty() ? crypto::sha256(what.body) : std::string(what.body_sha256));
  headers.add("Host", address_.host);
  headers.add("x-amz-date", amz_date(now));
  headers.add("x-amz-content-sha256", hash);
  headers.add("Authorization",
              authorization(credentials_, {address_.region}, {what.method, path, query, headers, hash}, now));
  return headers;
}

}  // namespace dash::storage::s3
