#include "core/storage/store/s3/errors.hpp"

#include "core/net/http/http_date.hpp"

namespace dash::storage::s3 {
namespace {

Error hint(std::string_view where, std::string_view code, std::string_view sentence) {
  return make_error(Code::upstream, "{}: {} ({})", where, sentence, code);
}

std::string clock_sentence(const net::HttpResponse& response, Time now) {
  auto theirs = net::parse_http_date(response.headers.get("Date").value_or(""));
  if (!theirs) return "this machine's clock is too far off; set it (NTP) and try again";
  return fmt::format("this machine's clock says {}, the store's {}; set the clock (NTP) and try again",
                     format_iso(now), format_iso(*theirs));
}

std::string region_sentence(const net::HttpResponse& response, const Address& address,
                            const Refusal& refusal) {
  auto region = response.headers.get("x-amz-bucket-region").value_or(refusal.region);
  if (region.empty())
    return fmt::format("the bucket is not in region {}; set storage_obj_cloud1_region to where it is",
                       address.region);
  return fmt::format("the bucket is in region {}, not in {}; set storage_obj_cloud1_region to {}", region,
                     address.region, region);
}

bool is_wrong_region(const net::HttpResponse& response, const Refusal& refusal) {
  return response.status == 301 || response.status == 307 || refusal.code == "AuthorizationHeaderMalformed" ||
         refusal.code == "PermanentRedirect" || refusal.code == "IllegalLocationConstraintException";
}

// Returns a status for a code that came without one (API reference, "Error responses").
int status_of(std::string_view code) {
  if (code == "InternalError") return 500;
  if (code == "SlowDown" || code == "ServiceUnavailable" || code == "RequestTimeout") return 503;
  if (code == "NoSuchUpload" || code == "NoSuchKey") return 404;
  if (code == "PreconditionFailed") return 412;
  if (code == "ConditionalRequestConflict") return 409;
  return 400;
}

}  // namespace

Error read_error(const net::HttpResponse& response, const Address& address, std::string_view where,
                 Time now) {
  auto refusal = read_refusal(response.body);
  const auto& code = refusal.code;
  if (code == "RequestTimeTooSkewed") return hint(where, code, clock_sentence(response, now));
  if (is_wrong_region(response, refusal))
    return hint(where, code.empty() ? std::to_string(response.status) : code,
                region_sentence(response, address, refusal));
  if (code == "NoSuchBucket")
    return hint(where, code, "the bucket does not exist; create it or correct storage_obj_cloud1_bucket");
  if (code == "InvalidAccessKeyId" || code == "SignatureDoesNotMatch" || code == "ExpiredToken")
    return hint(where, code,
                "the store refused the credentials; check cloud1_access_key_id and cloud1_secret_access_key");
  if (code == "AccessDenied")
    return hint(where, code,
                "the credentials lack a permission on this bucket (get, put, delete and list are needed)");
  if (code == "RequestTimeout" || code == "SlowDown") {
    auto retryable = response;
    retryable.status = 503;
    return http_error(retryable, where, refusal);
  }
  return http_error(response, where, refusal);
}

Error error_in_body(const StoreError& refusal, std::string_view where) {
  net::HttpResponse answer;
  answer.status = status_of(refusal.code);
  return http_error(answer, where, refusal);
}

}  // namespace dash::storage::s3
