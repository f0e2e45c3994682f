// AWS Signature Version 4 (docs.aws.amazon.com, "Signature Version 4 signing process"; S3's own rules: the
// path is encoded once and never normalised). Pure: credentials, request and time in, header value out.
// Called by client.cpp.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/secret.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::storage::s3 {

struct Credentials {
  std::string access_key_id;
  Secret secret_access_key;
};

// The scope in which a signature is valid.
struct CredentialScope {
  std::string region;
  std::string service = "s3";
};

using Query = std::vector<std::pair<std::string, std::string>>;  // not encoded

// Returns the query encoded and sorted. The same text is signed and sent after '?'.
std::string canonical_query(const Query& query);

struct RequestToSign {
  std::string_view method;
  std::string_view path;          // as sent: encoded, from the first slash
  std::string_view query;         // canonical_query()
  const net::Headers& headers;    // all of them are signed; host and x-amz-date are required
  std::string_view payload_hash;  // hex of SHA-256
};

std::string canonical_request(const RequestToSign& request);
// Returns the value of the header Authorization.
std::string authorization(const Credentials& credentials, const CredentialScope& scope,
                          const RequestToSign& request, Time now);
// Returns "20130524T000000Z", the header x-amz-date.
std::string amz_date(Time now);

}  // namespace dash::storage::s3
