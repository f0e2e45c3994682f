// One signed call to one bucket of Oracle Object Storage: path and query in, the response or an error out.
// Looks the namespace up when no setting names it. Used by store.cpp. Thread-safe.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/storage/store/endpoint.hpp"
#include "core/storage/store/oci/sign.hpp"

namespace dash::storage::oci {

using Query = std::vector<std::pair<std::string, std::string>>;  // plain

struct Call {
  std::string what;  // for messages: "reading config-mgmt/site.yml"
  std::string_view method = "GET";
  std::string path = {};  // beneath the bucket, percent-encoded: "/o/name"
  Query query = {};
  net::Headers headers = {};                   // conditions, ranges, metadata
  std::optional<std::string_view> json = {};   // a body that is signed …
  std::optional<std::string_view> bytes = {};  // … or one that the service exempts, sent with its MD5
  Sink* body_sink = nullptr;  // takes the body of a 2xx response instead of HttpResponse::body
};

class Client {
 public:
  Client(Endpoint endpoint, std::string bucket, std::string name_space, Credentials credentials,
         net::HttpClient& http, const Clock& clock);

  std::string place() const { return endpoint_.url + "/" + bucket_; }
  // Returns a 2xx response. Any other is an error with the operation and the service's message.
  Result<net::HttpResponse> execute(Call call);

 private:
  Result<std::string> name_space();
  Result<net::HttpResponse> send(const Call& call, const std::string& target);
  Error to_error(const Call& call, const net::HttpResponse& response) const;

  Endpoint endpoint_;
  std::string bucket_;
  Credentials credentials_;
  net::HttpClient& http_;
  const Clock& clock_;
  struct Namespace {
    std::mutex mutex;
    std::string name;  // empty: not fetched yet
  };
  std::unique_ptr<Namespace> namespace_;
};

Result<Client> open_client(const config::Values& values, net::HttpClient& http, const Clock& clock);

}  // namespace dash::storage::oci
