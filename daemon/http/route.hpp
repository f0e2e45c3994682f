// The route table: every path of the daemon, as plain rows. One function a resource adds its rows
// (add_setup_routes(routes, application)). The server reads them, and so does the test that compares them
// with daemon/openapi.yaml.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/http/http.hpp"

namespace dash::daemon {

// What a route does with a request body.
enum class Body {
  none,    // read and ignored up to 64 KiB (clients send "{}" out of habit), 413 above
  small,   // buffered whole, up to Route::max_body
  part,    // Content-Length is required (411) and at most max_body and 8 MiB; stored in one buffer of the
           // BufferPool
  stream,  // pushed into a RequestBodySink as it arrives, up to max_body bytes
};

// The worker pool that runs a route's hooks and handler, named after what they wait for.
enum class Pool {
  io,      // none: runs on the I/O thread itself and must not block (/livez)
  fast,    // the database
  login,   // scrypt: memory-hard, few at a time
  policy,  // the rule engine
  store,   // object stores, shares, agents: may take minutes
  // the checks of /readyz, for a moment: a pool of their own, so that it responds when all others are full
  health,
};

// Returns whether the work is short enough for the thread that read the request.
inline bool is_short(Pool pool) { return pool == Pool::fast || pool == Pool::policy; }

// The limit of a small body, unless the route has another: the largest JSON document of the API except
// imports and inline uploads.
inline constexpr std::uint64_t kSmallBody = 1u << 20;
inline constexpr std::uint64_t kIgnoredBody = 64u << 10;
// The limit for an unknown caller: a login form, or a claim without a setup code in its header section.
inline constexpr std::uint64_t kSignInBody = 64u << 10;

// The rule of who may call a route. It has no default, so a row without one does not compile. The caller is
// in Request::principal before a byte of the body is read.
class Auth {
 public:
  enum Rule {
    anybody,        // every caller; a token in the header section is ignored
    login,          // every caller, with a body out of the sign-in reserve
    signed_in,      // a session or a personal access token
    session,        // a session; 403 for a personal access token
    admin,          // signed in as an admin
    admin_session,  // a session of an admin; 403 for a personal access token
    visitor,        // every caller; a good session sets the principal, any other text counts as none
    setup,          // a session, or no token at all: the handler decides; 401 for any other text
    setup_admin,    // a session of an admin; 401 for any other text
    agent,          // the row's `admit` decides, with a body out of the agents' reserve
    claim,          // as setup, with a body out of the sign-in reserve unless there is a session
  };
  constexpr Auth(Rule rule) : rule_(rule) {}  // NOLINT: a row says `.auth = Auth::admin`
  constexpr Rule rule() const { return rule_; }

 private:
  Rule rule_;
};

using Handler = std::function<Result<Response>(Request&)>;
// Runs on the route's pool with the header section alone, before a byte of the body is read. Returns the
// handler of this one request, which holds what it found. An error is the response.
using Admit = std::function<Result<Handler>(Request&)>;
// Finds the caller by the header section alone; nullopt where the rule needs none. An error is the response.
using Authenticate = std::function<Result<std::optional<Principal>>(Auth, const Request&)>;
using OpenSink = std::function<Result<std::unique_ptr<RequestBodySink>>(Request&)>;

struct Route {
  std::string method = "GET";  // GET serves HEAD too
  // "/api/jobs/{id}": literal segments match byte for byte, {id} one segment, percent-decoded, never empty. A
  // last segment {name...} takes the rest, slashes included. At the same place a literal has priority over a
  // name.
  std::string pattern{};
  Auth auth;
  Handler handler{};  // empty for Body::stream and beside `admit`
  Body body = Body::none;
  std::uint64_t max_body = kSmallBody;
  Pool pool = Pool::fast;
  bool is_health = false;  // also served on the connections above the limit, and when its pool is full
  Admit admit{};
  OpenSink open{};  // Body::stream only; it replaces `admit`
  // Pool::store: returns whether the handler is short now, as far as is known. Waits for nothing.
  std::function<bool()> is_short_now{};
};

}  // namespace dash::daemon
