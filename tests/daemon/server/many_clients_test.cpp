// Many clients at once: which are evicted, which are still served, and whose memory is whose. The limits are
// small here, and no test waits for a clock.
#include <list>

#include "tests/daemon/running.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::daemon {
namespace {

using std::chrono::milliseconds;

// The name in the header is the user.
Authenticate by_name() {
  return [](Auth, const Request& request) -> Result<std::optional<Principal>> {
    auto name = request.header("X-User");
    if (!name) return fail(Code::unauthenticated, "Not authenticated");
    Principal principal;
    principal.username = *name;
    return std::optional(std::move(principal));
  };
}

ServerOptions small_server(std::size_t connections) {
  ServerOptions options;
  options.limits.connections = connections;
  options.limits.extra_connections = 2;
  options.authenticate = by_name();
  return options;
}

// Waits at the gate, for a user.
Route waits(Gate& gate, Auth auth = Auth::signed_in) {
  return {.method = "POST",
          .pattern = "/api/waits",
          .auth = auth,
          .handler = [&gate](Request&) -> Result<Response> {
            gate.pass();
            return json_response(200, OrderedJson{{"done", true}});
          },
          .body = Body::small,
          .pool = Pool::store};
}

Route login_route() {
  return {.method = "POST",
          .pattern = "/api/auth/login",
          .auth = Auth::login,
          .handler = [](Request& request) -> Result<Response> {
            return text_response(200, "text/plain", std::string(request.body));
          },
          .body = Body::small,
          .pool = Pool::login};
}

std::string as(std::string_view user) { return fmt::format("X-User: {}\r\n", user); }
std::string forwarded(int client) {
  return fmt::format("X-Forwarded-For: 192.0.2.{}\r\n", client) + as("u" + std::to_string(client));
}

TEST(Crowd, IdleConnectionsMakeRoomForANewOne) {
  Running running({hello()}, small_server(4));
  std::list<RawClient> idle;
  for (int i = 0; i < 12; ++i) idle.emplace_back(running.port());
  EXPECT_EQ(ask(running.port(), get("/api/hello")).status, 200);
  EXPECT_EQ(ask(running.port(), get("/livez")).status, 200);
  EXPECT_TRUE(idle.front().closed());
  EXPECT_EQ(idle.back().ask(get("/api/hello")).status, 200);  // the youngest stays
}

TEST(Crowd, AnUnfinishedHeadIsIdle) {
  Running running({hello()}, small_server(4));
  std::list<RawClient> slow;
  for (int i = 0; i < 12; ++i) slow.emplace_back(running.port()).send("GET /api/hello HTTP/1.1\r\nHost:");
  EXPECT_EQ(ask(running.port(), get("/api/hello")).status, 200);
  EXPECT_TRUE(slow.front().closed());
}

TEST(Crowd, ABodyOfSomebodyUnknownMakesRoomAndOneOfAUserDoesNot) {
  auto body = echo();
  body.auth = Auth::signed_in;
  Running running({login_route(), body, hello()}, small_server(4));
  RawClient user(running.port()), stranger(running.port());
  auto head = [](std::string_view path, const std::string& headers) {
    return fmt::format("POST {} HTTP/1.1\r\nHost: t\r\n{}Expect: 100-continue\r\nContent-Length: 4\r\n\r\n",
                       path, headers);
  };
  EXPECT_EQ(user.ask(head("/api/echo", as("ann"))).status, 100);
  EXPECT_EQ(stranger.ask(head("/api/auth/login", "")).status, 100);
  std::list<RawClient> crowd;
  for (int i = 0; i < 12; ++i) crowd.emplace_back(running.port());
  EXPECT_TRUE(stranger.closed());
  EXPECT_EQ(user.ask("body").body, "body");
}

TEST(Crowd, AnonymousBodiesLeaveLoginsAlone) {
  auto options = small_server(64);
  options.limits.small_bodies_bytes = 1000;
  options.limits.sign_in_bodies_bytes = 64u << 10;
  auto body = echo();
  body.auth = Auth::signed_in;
  Running running({login_route(), body}, options);
  std::list<RawClient> flood;
  for (int i = 0; i < 32; ++i) {
    auto& client = flood.emplace_back(running.port());
    client.send("POST /api/echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n" + std::string(900, 'x'));
    EXPECT_EQ(client.receive().status, 401);
  }
  EXPECT_EQ(ask(running.port(), post("/api/auth/login", "username=ann")).status, 200);
  EXPECT_EQ(ask(running.port(), post("/api/echo", std::string(1000, 'x'), as("ann"))).status, 200);
}

TEST(Crowd, LargeBodiesOfUsersLeaveLoginsAlone) {
  Gate gate;
  auto options = small_server(64);
  options.limits.small_bodies_bytes = 100;
  Running running({login_route(), waits(gate)}, options);
  RawClient large(running.port());
  large.send(post("/api/waits", std::string(100, 'x'), as("ann")));
  gate.await_arrivals(1);
  EXPECT_EQ(ask(running.port(), post("/api/waits", "x", as("bob"))).status, 503);
  EXPECT_EQ(ask(running.port(), post("/api/auth/login", "username=ann")).status, 200);
  gate.open();
  EXPECT_EQ(large.receive().status, 200);
}

TEST(Crowd, ALoginHasAtMost64KiB) {
  auto route = login_route();
  Running running({route}, small_server(4));
  auto chunk = [](std::size_t size) { return fmt::format("{:x}\r\n{}\r\n", size, std::string(size, 'x')); };
  auto chunked = "POST /api/auth/login HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(ask(running.port(), chunked + chunk(kSignInBody) + "0\r\n\r\n").status, 200);
  EXPECT_EQ(ask(running.port(), chunked + chunk(kSignInBody + 1) + "0\r\n\r\n").status, 413);
  EXPECT_EQ(ask(running.port(), post("/api/auth/login", std::string(kSignInBody + 1, 'x'))).status, 413);
}

TEST(Crowd, AUserAndANetworkHoldTheirShareOfBodiesAndNoMore) {
  Gate gate;
  auto options = small_server(64);
  options.trusted_proxies = {"127.0.0.1"};
  options.limits.small_bodies_bytes = 1000;
  options.limits.small_bodies_per_user = 30;
  options.limits.small_bodies_per_network = 50;
  Running running({waits(gate)}, options);
  std::list<RawClient> clients;
  auto holds = [&](std::string_view user, std::string_view address, std::size_t bytes) {
    auto& client = clients.emplace_back(running.port());
    client.send(post("/api/waits", std::string(bytes, 'x'),
                     as(user) + fmt::format("X-Forwarded-For: {}\r\n", address)));
    gate.await_arrivals(static_cast<int>(clients.size()));
  };
  auto status = [&](std::string_view user, std::string_view address, std::size_t bytes) {
    return ask(running.port(), post("/api/waits", std::string(bytes, 'x'),
                                    as(user) + fmt::format("X-Forwarded-For: {}\r\n", address)))
        .status;
  };
  holds("ann", "2001:db8:0:1::1", 30);
  EXPECT_EQ(status("ann", "192.0.2.1", 1), 503);  // from anywhere
  holds("bob", "2001:db8:0:1::2", 20);
  EXPECT_EQ(status("eve", "2001:db8:0:1::3", 1), 503);  // the same /64
  gate.open();
  EXPECT_EQ(status("eve", "2001:db8:0:2::3", 30), 200);
}

TEST(Crowd, AboveTheLimitTheHealthRoutesAnswerAndTheRestIs503) {
  Gate gate;
  Running running({waits(gate), hello()}, small_server(2));
  std::list<RawClient> busy;
  for (int i = 0; i < 2; ++i) busy.emplace_back(running.port()).send(post("/api/waits", "", as("ann")));
  gate.await_arrivals(2);
  auto refused = ask(running.port(), get("/api/hello"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers["retry-after"], "1");
  EXPECT_EQ(refused.headers["connection"], "close");
  EXPECT_EQ(ask(running.port(), get("/nothing")).status, 503);
  for (auto path : {"/livez", "/readyz"}) {
    auto health = ask(running.port(), get(path));
    EXPECT_EQ(health.status, 200) << path;
    EXPECT_EQ(health.headers["connection"], "close") << path;
  }
  gate.open();
  for (auto& client : busy) EXPECT_EQ(client.receive().status, 200);
  // A client may have its response before the server counts its connection as idle.
  EXPECT_TRUE(wait_until([&] { return ask(running.port(), get("/api/hello")).status == 200; }));
}

TEST(Crowd, AboveTheLimitASilentClientIsToldWhy) {
  Gate gate;
  auto options = small_server(1);
  options.limits.extra_head_time = milliseconds(20);
  Running running({waits(gate)}, options);
  RawClient busy(running.port());
  busy.send(post("/api/waits", "", as("ann")));
  gate.await_arrivals(1);
  EXPECT_EQ(RawClient(running.port()).receive().status, 503);
  EXPECT_EQ(ask(running.port(), "GET /livez HTT").status, 503);
  gate.open();
  EXPECT_EQ(busy.receive().status, 200);
}

TEST(Crowd, AProxyWithManyUsersIsNotCut) {
  Gate gate;
  auto options = small_server(8);
  options.trusted_proxies = {"127.0.0.1"};
  options.store = {16, 16};
  Running running({waits(gate)}, options);
  std::list<RawClient> users;
  for (int i = 1; i <= 8; ++i) users.emplace_back(running.port()).send(post("/api/waits", "", forwarded(i)));
  gate.await_arrivals(8);
  gate.open();
  for (auto& user : users) EXPECT_EQ(user.receive().status, 200);
  for (int i = 1; auto& user : users) {
    EXPECT_EQ(user.ask(post("/api/waits", "", forwarded(9))).status, 200);
    // Once it counts for its own user again, the next one may ask for the ninth.
    EXPECT_EQ(user.ask(post("/api/waits", "", forwarded(i++))).status, 200);
  }
}

TEST(Crowd, OneClientBehindAProxyHasItsShareOnceConnectionsRunShort) {
  Gate gate;
  auto options = small_server(8);
  options.trusted_proxies = {"127.0.0.1"};
  options.store = {16, 16};
  Running running({waits(gate)}, options);
  std::list<RawClient> greedy;
  for (int i = 0; i < 5; ++i) {
    greedy.emplace_back(running.port()).send(post("/api/waits", "", forwarded(1)));
    gate.await_arrivals(i + 1);
  }
  RawClient last(running.port()), other(running.port());
  EXPECT_EQ(last.ask(post("/api/waits", "", forwarded(1))).status, 503);
  other.send(post("/api/waits", "", forwarded(2)));
  gate.await_arrivals(6);
  gate.open();
  EXPECT_EQ(other.receive().status, 200);
  EXPECT_EQ(last.ask(post("/api/waits", "", forwarded(3))).status, 200);  // the proxy's connection lives on
}

TEST(Crowd, WhenTheyRunShortANetworkMakesRoomFromItsOwn) {
  Scratch scratch;
  auto options = small_server(8);
  auto path = scratch / "socket";
  options.listen = {"127.0.0.1:0", "unix:" + path};
  Running running({hello()}, options);
  std::list<RawClient> polite;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(polite.emplace_back(path).ask(get("/api/hello")).status, 200);
  std::list<RawClient> flood;
  for (int i = 0; i < 30; ++i) flood.emplace_back(running.port());
  EXPECT_TRUE(flood.front().closed());
  for (auto& client : polite) EXPECT_EQ(client.ask(get("/api/hello")).status, 200);
}

// An endless body that counts how often it had to release its memory.
struct Endless final : ResponseBody {
  explicit Endless(std::atomic<int>& count) : releases(count) {}
  Result<std::size_t> read(std::span<char> into) override { return into.size(); }
  void release() override { ++releases; }
  std::atomic<int>& releases;
};

TEST(Crowd, ADownloadThatNobodyReadsGivesItsBufferBack) {
  std::atomic<int> releases = 0;
  ServerOptions options;
  options.limits.release_time = milliseconds(5);
  Running running({{.pattern = "/api/endless",
                    .auth = Auth::anybody,
                    .handler = [&](Request&) -> Result<Response> {
                      Response response;
                      response.source = std::make_unique<Endless>(releases);
                      return response;
                    },
                    .pool = Pool::store}},
                  options);
  RawClient client(running.port());
  client.send(get("/api/endless"));
  EXPECT_TRUE(wait_until([&] { return releases > 0; }));
}

}  // namespace
}  // namespace dash::daemon
