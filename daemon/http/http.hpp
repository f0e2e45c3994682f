// HTTP as a route sees it: a request, a response, a body that is pulled, a body that is pushed. There is no
// socket and no library here. Route files (daemon/routes/*_routes.cpp) use this header and
// daemon/http/route.hpp.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/address.hpp"
#include "core/base/buffer_pool.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/principal.hpp"
#include "core/base/stream.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::daemon {

using net::Headers;

// Decoded names and values in the order of the query string or form; '+' is a space.
class Fields {
 public:
  void add(std::string name, std::string value) { list_.emplace_back(std::move(name), std::move(value)); }
  // Returns the first value of that name, or nullopt.
  std::optional<std::string> get(std::string_view name) const;
  std::string get_or(std::string_view name, std::string_view otherwise) const;
  bool has(std::string_view name) const { return get(name).has_value(); }
  bool empty() const { return list_.empty(); }
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> list_;
};

struct Request {
  std::string method;    // GET for HEAD,
  bool is_head = false;  // which is marked here
  std::string target;    // as sent, query included
  std::string path;      // as sent, without the query
  Fields query;
  Headers headers;  // look-up ignores case
  // {id} of the pattern, percent-decoded.
  std::map<std::string, std::string, std::less<>> params;

  std::string peer;        // address of the other end of the socket; "unix" for a Unix socket
  std::string client;      // address of the client: X-Forwarded-For counts only from trusted proxies
  bool is_tls = false;     // the client's connection to this server, not to a proxy before it
  std::string request_id;  // in every log line of this request and in its response
  std::optional<Principal> principal;  // found by the route's auth from the header section

  // Returns the principal, for a route whose auth demands one.
  const Principal& caller() const { return principal.value(); }
  // Returns the holder for which bodies and buffers count.
  Holder holder() const { return {principal ? principal->username : std::string(), network_of(client)}; }
  // Set by Route::admit of a claim: the header section alone proves that the client may send a large body.
  bool may_send_large = false;

  std::optional<std::uint64_t> content_length;  // declared; none for a chunked body
  std::string_view body;                        // Body::small, whole; Body::part: the bytes in `buffer`
  Buffer buffer;  // Body::part: the buffer that holds `body`; a handler may move it out

  // Returns whether the client closed its connection while the handler works. Empty outside of a server. Any
  // thread may call it until the handler returns.
  std::function<bool()> is_abandoned{};

  // Returns the value of a name of the pattern; empty when the pattern has no such name.
  const std::string& param(std::string_view name) const;
  std::optional<std::string> header(std::string_view name) const { return headers.get(name); }
};

struct Response;

// What a connection waits for without holding a thread: lines that are not yet written, an answer that is not
// yet there. wait() is called on the I/O thread and must not block.
class Waiting {
 public:
  virtual ~Waiting() = default;
  using Wake = std::function<void()>;
  // Returns when the connection goes on in any case; a time that has passed means at once. Until then `wake`,
  // called from any thread, lets it go on earlier. A later call replaces `wake`.
  virtual SteadyTime wait(Wake wake) = 0;
  // The server drains: wait() is over, and what follows ends the response. Called from the I/O thread.
  virtual void drain() = 0;
};

// A response that comes later than its handler returns, such as that of a lease that waits for work.
class DeferredResponse : public Waiting {
 public:
  // Runs once on the route's worker pool, when the wait is over. Destroyed without it when the client went away.
  virtual Result<Response> finish() = 0;
};

// A response body that is pulled piece by piece on the route's worker pool, never by two threads at once. The
// next piece is read when the client has received the one before. An error, or an end before size(), cuts the
// connection, so that no client takes half a body for a whole one.
class ResponseBody : public Source {
 public:
  // Returns the total bytes when known, for Content-Length. Otherwise the body is chunked.
  virtual std::optional<std::uint64_t> size() const { return std::nullopt; }
  // Releases memory that others may wait for, because the client does not take what was read last. Never
  // called during read().
  virtual void release() {}
  // Returns what to wait for before each read(), of a body that grows; null for one that does not.
  virtual Waiting* waiting() { return nullptr; }
};

// A body that stays open and grows, such as a stream of events. Between two reads it holds no thread and no
// buffer. It is as slow as its client: the next read() comes when that has taken what was read before.
class LiveBody : public ResponseBody, public Waiting {
 public:
  Waiting* waiting() final { return this; }
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  Headers headers{};
  std::string body{};
  std::unique_ptr<ResponseBody> source{};        // instead of `body`
  std::unique_ptr<DeferredResponse> deferred{};  // instead of all of the above
};

// Receives a request body as it arrives (Body::stream). Calls come in order, one at a time, on the route's
// worker pool; the socket is read on only after write() returned. An error of write() is the response, and
// the rest of the body is dropped. Destroyed without finish() when the client went away or write() failed.
class RequestBodySink : public Sink {
 public:
  virtual Result<Response> finish() = 0;
};

Response json_response(int status, const OrderedJson& body);
Response json_response(int status, const Json& body);
Response text_response(int status, std::string_view content_type, std::string body);
// Returns {"detail": message} or Error::body, with Retry-After. Error::detail never leaves: the server logs
// it with the request's id.
Response error_response(const Error& error);

}  // namespace dash::daemon
