// One authorised call to Google Cloud Storage: target in, the response or an error out. It fetches the access
// token and caches it; a token that the service refuses before its time is fetched once more. Used by
// store.cpp. Thread-safe.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/storage/store/bearer.hpp"
#include "core/storage/store/endpoint.hpp"

namespace dash::storage::gcs {

struct Call {
  std::string what;  // for messages: "reading config-mgmt/site.yml"
  std::string_view method = "GET";
  std::string target;         // path and query, percent-encoded
  net::Headers headers = {};  // Range, Content-Type, Content-Range
  std::string_view body = {};
  Sink* body_sink = nullptr;  // takes the body of a 2xx response instead of HttpResponse::body
  bool is_session = false;    // the address of an upload session is its own proof: no token
};

class Client {
 public:
  Client(Endpoint endpoint, std::string bucket, std::unique_ptr<BearerCache> tokens, net::HttpClient& http,
         const Clock& clock);

  const std::string& bucket() const { return bucket_; }
  std::string place() const { return endpoint_.url + "/" + bucket_; }
  // Returns a 2xx response. Any other is an error with the operation and the service's message.
  Result<net::HttpResponse> execute(const Call& call);
  // Returns a response of any status: sessions use 308 and 499.
  Result<net::HttpResponse> execute_raw(const Call& call);
  Error to_error(const Call& call, const net::HttpResponse& response) const;

 private:
  Result<net::HttpResponse> send(const Call& call, const Secret& token);

  Endpoint endpoint_;
  std::string bucket_;
  std::unique_ptr<BearerCache> tokens_;
  net::HttpClient& http_;
  const Clock& clock_;
};

Result<Client> open_client(const config::Values& values, net::HttpClient& http, const Clock& clock);

}  // namespace dash::storage::gcs
