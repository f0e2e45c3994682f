// One signed request to one bucket: settings and credentials in, response or Error out. Called by store.cpp
// alone. Thread-safe.
#pragma once
#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/net/http/http_client.hpp"
#include "core/storage/store/s3/address.hpp"
#include "core/storage/store/s3/sign.hpp"

namespace dash::storage::s3 {

struct Call {
  std::string_view method;
  std::string_view key = {};  // empty: the bucket itself
  Query query = {};
  net::Headers headers = {};  // besides those that signing adds
  std::string_view body = {};
  std::string_view body_sha256 = {};  // raw; empty: not known yet
  Sink* body_sink = nullptr;          // takes the body of a 2xx response instead of HttpResponse::body
  std::chrono::seconds idle_timeout{60};
  std::string doing = {};  // for messages: "reading 'x.yml'"
};

class Client {
 public:
  Client(Address address, Credentials credentials, net::HttpClient& http, const Clock& clock)
      : address_(std::move(address)), credentials_(std::move(credentials)), http_(&http), clock_(&clock) {}

  // Sends the request. A response outside of 2xx is an error (errors.hpp).
  Result<net::HttpResponse> call(const Call& what) const;

  const Address& address() const { return address_; }
  std::string name() const { return fmt::format("S3 bucket '{}'", address_.bucket); }
  std::string where(std::string_view doing) const { return fmt::format("{}, {}", name(), doing); }

 private:
  net::Headers signed_headers(const Call& what, std::string_view path, std::string_view query,
                              Time now) const;
  Address address_;
  Credentials credentials_;
  net::HttpClient* http_;
  const Clock* clock_;
};

}  // namespace dash::storage::s3
