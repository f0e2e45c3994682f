// The two credentials of Azure Blob Storage. Shared Key: an HMAC over the request (learn.microsoft.com,
// "Authorize with Shared Key", version 2015-02-21 and later). Service principal: a bearer token by the client
// credentials grant (RFC 6749 §4.4; learn.microsoft.com, "Microsoft identity platform and the OAuth 2.0
// client credentials flow"). Pure. Called by store.cpp.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/secret.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::storage::azure_blob {

struct AccountKey {
  std::string account;
  Secret key;  // raw bytes
};
// Reads `base64` as the portal shows it. Code::invalid names the setting.
Result<AccountKey> read_account_key(std::string_view account, const Secret& base64);

struct RequestToSign {
  std::string_view method;
  std::string path;                                        // percent-encoded, byte for byte as sent
  std::vector<std::pair<std::string, std::string>> query;  // plain; the URL has them percent-encoded
  net::Headers headers;  // all but Authorization; with x-ms-date and x-ms-version
  std::size_t body_size = 0;
};

std::string string_to_sign(std::string_view account, const RequestToSign& request);
// Returns the value of the Authorization header.
std::string shared_key(const AccountKey& key, const RequestToSign& request);

struct ServicePrincipal {
  std::string token_url;  // <authority>/<tenant>/oauth2/v2.0/token
  std::string client_id;
  Secret client_secret;
};
// Reads the principal's settings. `authority` empty means the public cloud. Code::invalid names the setting
// that is empty.
Result<ServicePrincipal> read_service_principal(std::string_view authority, std::string_view tenant,
                                                std::string_view client_id, const Secret& client_secret);
// Returns the form that is posted to token_url.
Secret token_request(const ServicePrincipal& principal);

}  // namespace dash::storage::azure_blob
