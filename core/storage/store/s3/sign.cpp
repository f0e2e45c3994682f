#include "core/storage/store/s3/sign.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"

namespace dash::storage::s3 {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

// Trims and makes one space of several.
std::string folded(std::string_view value) {
  std::string out;
  for (char c : trim(value))
    if (c != ' ' || !out.ends_with(' ')) out += c;
  return out;
}

struct CanonicalHeaders {
  std::string lines;  // "name:value\n" each
  std::string names;  // "host;x-amz-date"
};

CanonicalHeaders canonical_headers(const net::Headers& headers) {
  std::vector<std::pair<std::string, std::string>> list;
  for (const auto& [name, value] : headers) list.emplace_back(lower(name), folded(value));
  std::ranges::stable_sort(list, {}, &std::pair<std::string, std::string>::first);
  CanonicalHeaders out;
  for (const auto& [name, value] : list) {
    out.lines += fmt::format("{}:{}\n", name, value);
    out.names += (out.names.empty() ? "" : ";") + name;
  }
  return out;
}

std::string scope_text(const CredentialScope& scope, Time now) {
  return fmt::format("{}/{}/{}/aws4_request", amz_date(now).substr(0, 8), scope.region, scope.service);
}

std::string signing_key(const Secret& secret, const CredentialScope& scope, Time now) {
  auto key = crypto::hmac_sha256("AWS4" + secret.expose(), amz_date(now).substr(0, 8));
  for (std::string_view step :
       {std::string_view(scope.region), std::string_view(scope.service), std::string_view("aws4_request")})
    key = crypto::hmac_sha256(key, step);
  return key;
}

}  // namespace

std::string amz_date(Time now) { return format_compact(now) + "Z"; }

std::string canonical_query(const Query& query) {
  Query encoded;
  for (const auto& [name, value] : query)
    encoded.emplace_back(net::percent_encode(name), net::percent_encode(value));
  std::ranges::sort(encoded);
  std::string out;
  for (const auto& [name, value] : encoded)
    out += fmt::format("{}{}={}", out.empty() ? "" : "&", name, value);
  return out;
}

std::string canonical_request(const RequestToSign& request) {
  auto headers = canonical_headers(request.headers);
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, request.path, request.query, headers.lines,
                     headers.names, request.payload_hash);
}

std::string authorization(const Credentials& credentials, const CredentialScope& scope,
                          const RequestToSign& request, Time now) {
  auto text = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, amz_date(now), scope_text(scope, now),
                          crypto::to_hex(crypto::sha256(canonical_request(request))));
  Secret key(signing_key(credentials.secret_access_key, scope, now));
  return fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm,
                     credentials.access_key_id, scope_text(scope, now),
                     canonical_headers(request.headers).names,
                     crypto::to_hex(crypto::hmac_sha256(key.expose(), text)));
}

}  // namespace dash::storage::s3
