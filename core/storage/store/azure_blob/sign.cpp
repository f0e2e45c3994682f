#include "core/storage/store/azure_blob/sign.hpp"

#include <algorithm>
#include <map>

#include "core/base/text.hpp"
#include "core/crypto/hash.hpp"

namespace dash::storage::azure_blob {
namespace {

constexpr std::string_view kPublicAuthority = "https://login.microsoftonline.com";
constexpr std::string_view kScope = "https://storage.azure.com/.default";

Failure missing(std::string_view setting) {
  return fail(Code::invalid,
              "{} is not set: Azure Blob Storage needs storage_obj_cloud2_account_key, or cloud2_tenant_id, "
              "cloud2_client_id and cloud2_client_secret",
              setting);
}

// x-ms-… in lower case, sorted by name, one a line.
std::string canonical_headers(const net::Headers& headers) {
  std::map<std::string, std::string> sorted;
  for (const auto& [name, value] : headers)
    if (auto key = lower(name); key.starts_with("x-ms-")) sorted[key] = trim(value);
  std::string out;
  for (const auto& [name, value] : sorted) out += fmt::format("{}:{}\n", name, value);
  return out;
}

// The account, then the path as sent (which has the account again where the endpoint is path-style), then the
// query in lower case, sorted by name.
std::string canonical_resource(std::string_view account, const RequestToSign& request) {
  std::map<std::string, std::vector<std::string>> sorted;
  for (const auto& [name, value] : request.query) sorted[lower(name)].push_back(value);
  auto out = fmt::format("/{}{}", account, request.path);
  for (auto& [name, values] : sorted) {
    std::sort(values.begin(), values.end());
    out += fmt::format("\n{}:{}", name, fmt::join(values, ","));
  }
  return out;
}

}  // namespace

Result<AccountKey> read_account_key(std::string_view account, const Secret& base64) {
  if (trim(account).empty()) return missing("storage_obj_cloud2_account");
  auto raw = crypto::from_base64(trim(base64.expose()));
  if (!raw || raw->empty())
    return fail(Code::invalid,
                "storage_obj_cloud2_account_key is not base64: copy the key as the portal shows it");
  return AccountKey{std::string(trim(account)), Secret(*std::move(raw))};
}

std::string string_to_sign(std::string_view account, const RequestToSign& request) {
  auto header = [&](std::string_view name) { return request.headers.get(name).value_or(""); };
  auto length = request.body_size == 0 ? std::string() : std::to_string(request.body_size);
  std::string out(request.method);
  for (const auto& value :
       {header("Content-Encoding"), header("Content-Language"), length, header("Content-MD5"),
        header("Content-Type"), header("Date"), header("If-Modified-Since"), header("If-Match"),
        header("If-None-Match"), header("If-Unmodified-Since"), header("Range")})
    out += "\n" + value;
  return out + "\n" + canonical_headers(request.headers) + canonical_resource(account, request);
}

std::string shared_key(const AccountKey& key, const RequestToSign& request) {
  auto mac = crypto::hmac_sha256(key.key.expose(), string_to_sign(key.account, request));
  return fmt::format("SharedKey {}:{}", key.account, crypto::to_base64(mac));
}

Result<ServicePrincipal> read_service_principal(std::string_view authority, std::string_view tenant,
                                                std::string_view client_id, const Secret& client_secret) {
  if (trim(tenant).empty()) return missing("cloud2_tenant_id");
  if (trim(client_id).empty()) return missing("cloud2_client_id");
  if (client_secret.empty()) return missing("cloud2_client_secret");
  auto host = trim(authority).empty() ? kPublicAuthority : trim(authority);
  while (host.ends_with('/')) host.remove_suffix(1);
  auto scheme = host.find("://") == host.npos ? "https://" : "";
  return ServicePrincipal{
      fmt::format("{}{}/{}/oauth2/v2.0/token", scheme, host, net::percent_encode(trim(tenant))),
      std::string(trim(client_id)), client_secret};
}

Secret token_request(const ServicePrincipal& principal) {
  return Secret(net::form_encode({{"grant_type", "client_credentials"},
                                  {"client_id", principal.client_id},
                                  {"client_secret", principal.client_secret.expose()},
                                  {"scope", kScope}}));
}

}  // namespace dash::storage::azure_blob
