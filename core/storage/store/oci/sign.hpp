// Signature version 1 of the Oracle Cloud Infrastructure API: draft-cavage-http-signatures-08 with rsa-sha256
// (docs.oracle.com, Request Signatures). Pure: credentials, request and time in, headers out. Called by
// store.cpp.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/secret.hpp"
#include "core/crypto/keys.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::storage::oci {

// The service refuses a clock that differs more.
inline constexpr std::chrono::minutes kMaxClockSkew{5};

struct Credentials {
  std::string key_id;  // TENANCY/USER/FINGERPRINT
  crypto::RsaKey key;
};

// Code::invalid names the setting that is empty or unreadable, and reports a fingerprint of another key.
Result<Credentials> read_credentials(std::string_view tenancy, std::string_view user,
                                     std::string_view fingerprint, const Secret& private_key,
                                     const Secret& passphrase);

struct RequestToSign {
  std::string_view method;  // GET, PUT, …
  std::string_view target;  // path and query, byte for byte as sent
  std::string_view host;    // with the port where the URL has one
  // A body that the signature covers. PutObject and UploadPart are exempt and leave it empty, so that their
  // bytes need not be read twice.
  std::optional<std::string_view> json_body;
};

// Returns date, host, authorization; with a JSON body also content-type and x-content-sha256. `date` is
// format_http_date().
net::Headers sign(const Credentials& credentials, const RequestToSign& request, std::string_view date);

}  // namespace dash::storage::oci
