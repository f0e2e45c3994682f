// Every row of the route table against every kind of caller, with a handler that only counts: the route's
// `auth` alone decides which callers pass, before a byte of a body is read.
#include <set>
#include <type_traits>

#include "tests/daemon/whole_instance.hpp"

namespace dash::daemon {
namespace {

static_assert(!std::is_default_constructible_v<Auth>);
static_assert(!std::is_default_constructible_v<Route>, "a row without `auth` does not compile");

enum Caller { nobody, stranger, user, user_token, root, root_token };
constexpr Caller kCallers[] = {nobody, stranger, user, user_token, root, root_token};

constexpr int kPassed = 200;

// The responses of a rule to no token, a text that is no token, a user's session and token, an admin's
// session and token.
std::array<int, 6> expected(Auth auth) {
  switch (auth.rule()) {
    case Auth::anybody:
    case Auth::login:
    case Auth::visitor:
    case Auth::agent:  // its admit, which is not part of this test, decides
      return {kPassed, kPassed, kPassed, kPassed, kPassed, kPassed};
    case Auth::signed_in:
      return {401, 401, kPassed, kPassed, kPassed, kPassed};
    case Auth::session:
      return {401, 401, kPassed, 403, kPassed, 403};
    case Auth::admin:
      return {401, 401, 403, 403, kPassed, kPassed};
    case Auth::admin_session:
      return {401, 401, 403, 403, kPassed, 403};
    case Auth::setup:
    case Auth::claim:
      return {kPassed, 401, kPassed, 401, kPassed, 401};
    case Auth::setup_admin:
      return {401, 401, 403, 401, kPassed, 401};
  }
  return {};
}

std::string path_of(std::string pattern) {
  while (pattern.find('{') != pattern.npos) {
    auto at = pattern.find('{');
    pattern.replace(at, pattern.find('}') - at + 1, "x");
  }
  return pattern;
}

// A row as it is, but for what it does.
Route stubbed(Route route) {
  route.handler = [](Request& request) -> Result<Response> {
    return text_response(kPassed, "text/plain", request.principal ? request.principal->username : "");
  };
  route.admit = {};
  route.open = {};
  if (route.body == Body::stream) route.body = Body::none;
  return route;
}

class RouteAuth : public testing::Test {
 protected:
  RouteAuth() {
    whole_.add_user("ann", false);
    whole_.add_user("root", true);
    for (auto& route : all_routes(whole_.application())) routes_.push_back(stubbed(std::move(route)));
    for (auto rule : {Auth::session, Auth::admin_session})
      routes_.push_back(stubbed({.pattern = "/test/" + std::to_string(rule), .auth = rule}));
    ServerOptions options;
    options.limits.caller_age = {};
    whole_.serve(routes_, options);
    headers_ = {"",
                "Authorization: Bearer x.y.z\r\n",
                whole_.session("ann"),
                whole_.token("ann"),
                whole_.session("root"),
                whole_.token("root")};
  }
  RawResponse call(const Route& route, Caller caller) {
    return ask(whole_.port(), route.method + " " + path_of(route.pattern) +
                                  " HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n" + headers_.at(caller) +
                                  "\r\n");
  }
  WholeInstance whole_;
  std::vector<Route> routes_;
  std::array<std::string, 6> headers_;
};

TEST_F(RouteAuth, LetsThroughWhomTheRowNamesAndNobodyElse) {
  for (const auto& route : routes_) {
    auto wanted = expected(route.auth);
    for (auto caller : kCallers)
      EXPECT_EQ(call(route, caller).status, wanted.at(caller))
          << route.method << " " << route.pattern << " caller " << caller;
  }
}

TEST_F(RouteAuth, HandsTheHandlerThePrincipalThatItFound) {
  Route row{.pattern = "/api/jobs", .auth = Auth::signed_in};
  EXPECT_EQ(call(row, user).body, "ann");
  EXPECT_EQ(call(row, root_token).body, "root");
  Route open{.pattern = "/api/setup/status", .auth = Auth::visitor};
  EXPECT_EQ(call(open, stranger).body, "");
  EXPECT_EQ(call(open, root_token).body, "");
  EXPECT_EQ(call(open, root).body, "root");
}

TEST_F(RouteAuth, OnlyTheseRowsAnswerSomebodyWhoIsNotSignedIn) {
  std::set<std::string> open;
  for (const auto& route : routes_)
    if (route.auth.rule() != Auth::agent && expected(route.auth)[nobody] == kPassed)
      open.insert(route.method + " " + route.pattern);
  EXPECT_EQ(open, (std::set<std::string>{"GET /api/features", "GET /api/health", "GET /api/setup/config",
                                         "GET /api/setup/status", "POST /api/auth/login",
                                         "POST /api/setup/import"}));
}

TEST_F(RouteAuth, WhatAgentsCallDecidesByItselfBeforeABodyIsRead) {
  for (const auto& route : all_routes(whole_.application())) {
    bool is_agents = route.pattern.starts_with("/api/agent/");
    EXPECT_EQ(route.auth.rule() == Auth::agent, is_agents) << route.pattern;
    EXPECT_TRUE(!is_agents || (route.admit && !route.handler)) << route.pattern;
  }
}

TEST_F(RouteAuth, APersonalAccessTokenIsToldToSignIn) {
  Route row{.pattern = "/test/" + std::to_string(Auth::session), .auth = Auth::session};
  EXPECT_NE(call(row, user_token).body.find("sign in"), std::string::npos);
}

TEST_F(RouteAuth, NoBodyOfACallerWhoIsNotKnownIsRead) {
  for (const auto& route : routes_) {
    if (expected(route.auth)[nobody] == kPassed) continue;
    auto answer = ask(whole_.port(), route.method + " " + path_of(route.pattern) +
                                         " HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\n"
                                         "Content-Length: 60000\r\n\r\n");
    EXPECT_EQ(answer.status, 401) << route.method << " " << route.pattern;
  }
}

TEST_F(RouteAuth, ASessionThatEndsWhileTheBodyArrivesIsRefused) {
  RawClient client(whole_.port());
  auto session = headers_.at(user);
  EXPECT_EQ(client
                .ask("POST /api/tokens HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 2\r\n" +
                     session + "\r\n")
                .status,
            100);
  must(whole_.application().sessions.logout(session.substr(22, session.size() - 24)));
  EXPECT_EQ(client.ask("{}").status, 401);
}

}  // namespace
}  // namespace dash::daemon
