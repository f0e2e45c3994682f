// The interface to other HTTP servers. One request, one response, no retry (retry.hpp decorates). No redirect
// is followed: a 3xx is a response like any other, so that a token never reaches a host that was not named.
// Thread-safe.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/secret.hpp"
#include "core/base/stream.hpp"

namespace dash::net {

// Names as sent; look-up ignores case (RFC 9110 §5.1).
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> list) : list_(list) {}
  void add(std::string name, std::string value) { list_.emplace_back(std::move(name), std::move(value)); }
  // Returns the first value, or nullopt.
  std::optional<std::string> get(std::string_view name) const;
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> list_;
};

// The servers to trust for https.
struct Trust {
  std::string ca_bundle;  // PEM file added to the system's roots; empty for the system's alone
  bool insecure = false;  // checks neither chain nor name
};

// A user of the server: by NTLM where it offers that, else by Basic; on a connection that nothing else uses.
struct HttpLogin {
  std::string user;
  Secret password;
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;  // sent byte for byte: signing needs exact paths (no dot-segment removal)
  Headers headers;
  std::string_view body;  // must outlive the call
  // Sends `body_source_size` bytes instead of `body`; must outlive the call. It is read once, from its start.
  // A response before its end is accepted as it is.
  Source* body_source = nullptr;
  std::uint64_t body_source_size = 0;
  std::string unix_socket;  // path; connects there instead of the URL's host
  Trust trust;
  std::optional<HttpLogin> login = {};
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds timeout{60'000};  // the whole exchange; zero: only `idle_timeout`
  std::chrono::seconds idle_timeout{60};      // without a byte in either direction, the peer is gone
  std::size_t max_body = 64u << 20;           // a larger response is Code::upstream
  // Receives a 2xx body instead of HttpResponse::body; must outlive the call. Its error ends the call. Bodies
  // of other statuses always go to HttpResponse::body.
  Sink* body_sink = nullptr;
};

struct HttpResponse {
  int status = 0;
  Headers headers;
  std::string body;
  std::size_t body_size = 0;  // bytes received, also when they went to HttpRequest::body_sink
  bool ok() const { return status >= 200 && status < 300; }
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // Code::unreachable (no connection; cut in the middle), Code::tls, Code::timeout, Code::upstream. Messages
  // name scheme, host and port, never the query.
  virtual Result<HttpResponse> send(const HttpRequest& request) = 0;
};

// Returns a client on libcurl, with one reused handle per thread. It uses the proxy environment variables
// except for Unix sockets.
std::unique_ptr<HttpClient> make_curl_client();

// Leaves the unreserved characters of RFC 3986, and '/' with `keep_slash`.
std::string percent_encode(std::string_view text, bool keep_slash = false);
// Decodes strictly: returns nullopt for a bad escape.
std::optional<std::string> percent_decode(std::string_view text);
std::string form_encode(std::initializer_list<std::pair<std::string_view, std::string_view>> fields);
// Returns "https://host:8443" of a URL, for messages.
std::string origin_of(std::string_view url);

}  // namespace dash::net
