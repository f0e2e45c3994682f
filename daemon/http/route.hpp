// The route table: every path that the daemon answers, as plain rows. One function a resource adds its rows
// (add_setup_routes(routes, application)); the server and the test that compares with daemon/openapi.yaml read
// them.
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
  part,    // Content-Length is required (411) and at most max_body and 8 MiB; lies in one buffer of the
           // BufferPool
  stream,  // pushed into a RequestBodySink as it arrives, up to max_body bytes
};

// The worker pool that runs a route's hooks and handler: named after what they wait for.
enum class Pool {
  io,      // none: runs on the I/O thread itself and must not block (/livez)
  fast,    // the database
  login,   // scrypt: memory-hard, few at a time
  policy,  // the rule engine
  store,   // object stores, shares, agents: may take minutes
  health,  // the checks of /readyz, for a moment: its own, so that it answers when all others are full
};

// Whether its work is short enough to be done by the thread that read the request.
inline bool is_short(Pool pool) { return pool == Pool::fast || pool == Pool::policy; }

// Limit of a small body unless the route says more: the largest JSON document of the API but for imports and
// inline uploads.
inline constexpr std::uint64_t kSmallBody = 1u << 20;
inline constexpr std::uint64_t kIgnoredBody = 64u << 10;
// What somebody who is not known may send: a login form, or a claim without a setup code in its head.
inline constexpr std::uint64_t kSignInBody = 64u << 10;

// Who may call a route. There is no default, so a row that does not say it does not compile. Whoever it lets
// through stands in Request::principal before a byte of the body is read.
class Auth {
 public:
  enum Rule {
    anybody,        // nobody is asked, a token in the head means nothing
    login,          // anybody, with a body out of the sign-in reserve
    signed_in,      // a session or a personal access token
    session,        // a session; 403 for a personal access token
    admin,          // signed in as an admin
    admin_session,  // a session of an admin; 403 for a personal access token
    visitor,        // anybody; a good session is known, any other text counts as none
    setup,          // a session, or no token at all: the handler decides; 401 for any other text
    setup_admin,    // a session of an admin; 401 for any other text
    claim,          // as setup, with a body out of the sign-in reserve unless there is a session
  };
  constexpr Auth(Rule rule) : rule_(rule) {}  // NOLINT: a row says `.auth = Auth::admin`
  constexpr Rule rule() const { return rule_; }

 private:
  Rule rule_;
};

using Handler = std::function<Result<Response>(Request&)>;
// Reads the head alone (the body is empty), before a byte of the body is read, on the route's pool. Returns the
// handler of this one request, which holds what the head was found to say; an error is the answer.
using Admit = std::function<Result<Handler>(Request&)>;
// Who calls, by the head alone; nullopt where the rule lets nobody in particular through. An error is the
// answer.
using Authenticate = std::function<Result<std::optional<Principal>>(Auth, const Request&)>;
using OpenSink = std::function<Result<std::unique_ptr<RequestBodySink>>(Request&)>;

struct Route {
  std::string method = "GET";  // GET answers HEAD too
  // "/api/jobs/{id}": literal segments match byte for byte, {id} one segment, percent-decoded, never empty; a
  // last segment {name...} takes the rest, slashes included. A literal beats a name at the same place.
  std::string pattern{};
  Auth auth;
  Handler handler{};  // empty for Body::stream and beside `admit`
  Body body = Body::none;
  std::uint64_t max_body = kSmallBody;
  Pool pool = Pool::fast;
  bool is_health = false;  // answers on the connections above the limit too, and whatever waits for its pool
  Admit admit{};
  OpenSink open{};  // Body::stream only; is its own admit
};

}  // namespace dash::daemon
