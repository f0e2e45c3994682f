// The route table: every path that the daemon answers, as plain rows. One function a resource adds its rows
// (add_setup_routes(routes, services)); the server and the test that compares with daemon/openapi.yaml read
// them.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/http.hpp"

namespace dash::daemon {

// What a route does with a request body.
enum class Body {
  none,    // read and ignored up to 64 KiB (clients send "{}" out of habit), 413 above
  small,   // buffered whole, up to Route::max_body
  part,    // Content-Length is required (411) and at most max_body and 8 MiB; lies in one buffer of the
           // PartPool
  stream,  // pushed into a BodySink as it arrives, up to max_body bytes
};

// The worker pool that runs a route's hooks and handler: named after what they wait for.
enum class Pool {
  io,      // none: runs on the I/O thread itself and must not block (/livez)
  fast,    // the database
  login,   // scrypt: memory-hard, few at a time
  policy,  // the rule engine
  store,   // object stores, shares, agents: may take minutes
};

// Whether its work is short enough to be done by the thread that read the request.
inline bool is_short(Pool pool) { return pool == Pool::fast || pool == Pool::policy; }

// Limit of a small body unless the route says more: the largest JSON document of the API but for imports and
// inline uploads.
inline constexpr std::uint64_t kSmallBody = 1u << 20;
inline constexpr std::uint64_t kIgnoredBody = 64u << 10;

using Handler = std::function<Result<Response>(Request&)>;
// Sees the head alone (body and part are empty), before a byte of the body is read, on the route's pool. An
// error is the answer.
using Admit = std::function<Result<void>(Request&)>;
using OpenSink = std::function<Result<std::unique_ptr<BodySink>>(Request&)>;

struct Route {
  std::string method = "GET";  // GET answers HEAD too
  // "/api/jobs/{id}": literal segments match byte for byte, {id} one segment, percent-decoded, never empty; a
  // last segment {name...} takes the rest, slashes included. A literal beats a name at the same place.
  std::string pattern{};
  Handler handler{};  // Body::stream has none
  Body body = Body::none;
  std::uint64_t max_body = kSmallBody;
  Pool pool = Pool::fast;
  Admit admit{};    // may be empty
  OpenSink open{};  // Body::stream only; is its own admit
};

}  // namespace dash::daemon
