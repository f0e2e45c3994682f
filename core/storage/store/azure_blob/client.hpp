// One authorised call to one container of Azure Blob Storage: path and query in, the response or an error
// out. It signs with the account's key where there is one, else it sends a service principal's token, which
// it fetches and caches. Used by store.cpp. Thread-safe.
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
  Sink* body_sink = nullptr;  // takes the body of a 2xx response instead of HttpResponse::body
};

class Client {
 public:
  // Exactly one of `key` and `tokens` is set.
  Client(Endpoint endpoint, std::string account, std::string container, std::optional<AccountKey> key,
         std::unique_ptr<BearerCache> tokens, net::HttpClient& http, const Clock& clock);

  // Returns endpoint, account and container. Another account is another place, whatever the endpoint.
  std::string place() const { return place_; }
  // Returns the address of a blob of the account; a blank container is this one.
  std::string url_of(std::string_view container, std::string_view key) const;
  // Returns a 2xx response. Any other is an error with the operation and the service's message; the service's
  // own code is written to `code` when given.
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
