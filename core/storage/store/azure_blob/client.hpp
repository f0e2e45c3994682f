// One authorised call to one container of Azure Blob Storage: path and query in, the answer or an error out.
// Signs with the account's key where there is one, else shows a service principal's token, which it fetches
// and keeps. Used by store.cpp. Thread-safe.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/storage/store/azure_blob/sign.hpp"
#include "core/storage/store/bearer.hpp"
#include "core/storage/store/endpoint.hpp"

namespace dash::storage::azure_blob {

struct Call {
  std::string what;  // for messages: "reading config-mgmt/site.yml"
  std::string_view method = "GET";
  std::string key = {};                                         // plain; empty: the container itself
  std::vector<std::pair<std::string, std::string>> query = {};  // plain
  net::Headers headers = {};
  std::string_view body = {};
  Room into = {};
};

class Client {
 public:
  // One of `key` and `tokens`.
  Client(Endpoint endpoint, std::string account, std::string container, std::optional<AccountKey> key,
         std::unique_ptr<BearerCache> tokens, net::HttpClient& http, const Clock& clock);

  // Endpoint, account and container: another account is another place whichever way it is addressed.
  std::string place() const { return place_; }
  // An answer of 2xx; anything else is an error that tells what was asked and what the service said. The
  // service's own code comes back in `code` when given.
  Result<net::HttpResponse> execute(const Call& call, std::string* code = nullptr);

 private:
  Result<net::HttpResponse> send(const RequestToSign& request, const Call& call, const Secret& token);
  Error to_error(const Call& call, const net::HttpResponse& response, std::string* code) const;

  std::string place_;
  Endpoint endpoint_;
  std::string container_;
  std::optional<AccountKey> key_;
  std::unique_ptr<BearerCache> tokens_;
  net::HttpClient& http_;
  const Clock& clock_;
};

Result<Client> open_client(const config::Values& values, net::HttpClient& http, const Clock& clock);

}  // namespace dash::storage::azure_blob
