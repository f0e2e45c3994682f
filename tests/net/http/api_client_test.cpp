#include "core/net/http/api_client.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::net {
namespace {

// Answers everything with one response and keeps the last request's parts.
class Canned final : public HttpClient {
 public:
  Result<HttpResponse> send(const HttpRequest& request) override {
    url = request.url;
    authorization = request.headers.get("Authorization").value_or("");
    body = request.body;
    if (error) return Failure(*error);
    return response;
  }
  HttpResponse response;
  std::optional<Error> error;
  std::string url, authorization, body;
};

HttpResponse answer(int status, std::string body, Headers headers = {}) {
  HttpResponse out;
  out.status = status;
  out.body = std::move(body);
  out.headers = std::move(headers);
  return out;
}

Error failure(HttpResponse response) {
  Canned http;
  http.response = std::move(response);
  auto api = must(ApiClient::open(http, {"http://t.example/", {}, {}}));
  auto result = api.get("/x");
  EXPECT_FALSE(result);
  return result ? Error{} : result.error();
}

TEST(ApiClient, JoinsAddressAndPathAndSendsTheToken) {
  Canned http;
  http.response = answer(200, R"({"a":1})");
  auto api = must(ApiClient::open(http, {" https://t.example/sub/ ", {}, {}}));
  api.use_token(Secret("jwt"));
  EXPECT_EQ(must(api.get("/api/x")), (Json{{"a", 1}}));
  EXPECT_EQ(http.url, "https://t.example/sub/api/x");
  EXPECT_EQ(http.authorization, "Bearer jwt");
}

TEST(ApiClient, RefusesAddressesThatAreNone) {
  Canned http;
  for (auto url :
       {"", "t.example", "ftp://t.example", "http://", "http://user:pw@t.example", "http://t.example/?x=1"}) {
    auto api = ApiClient::open(http, {url, {}, {}});
    ASSERT_FALSE(api) << url;
    EXPECT_EQ(api.error().code, Code::usage);
    EXPECT_EQ(api.error().message.find("pw"), std::string::npos);
  }
}

TEST(ApiClient, ChecksTheCaBundleBeforeItConnects) {
  Canned http;
  Scratch scratch;
  EXPECT_EQ(ApiClient::open(http, {"https://t", {scratch / "none.pem", false}, {}}).error().code, Code::tls);
}

TEST(ApiClient, NamesTheAddressThatCannotBeReached) {
  Canned http;
  http.error = make_error(Code::unreachable, "connection refused");
  auto api = must(ApiClient::open(http, {"http://t.example", {}, {}}));
  EXPECT_EQ(api.get("/x").error().message, "Cannot reach http://t.example: connection refused");
  http.error = make_error(Code::tls, "unknown issuer");
  auto tls = api.get("/x").error();
  EXPECT_EQ(tls.code, Code::tls);
  EXPECT_NE(tls.message.find("--ca-bundle"), std::string::npos);
}

TEST(ApiClient, NeverFollowsARedirectAndNamesIt) {
  auto error = failure(answer(302, "", {{"Location", "https://evil.example/x"}}));
  EXPECT_NE(error.message.find("https://evil.example/x"), std::string::npos);
  EXPECT_NE(failure(answer(302, "", {{"Location", "/setup"}})).message.find("not set up yet"),
            std::string::npos);
}

TEST(ApiClient, TellsWhatAStatusMeans) {
  EXPECT_EQ(failure(answer(401, R"({"detail":"Authentication required"})")).code, Code::unauthenticated);
  EXPECT_EQ(failure(answer(403, R"({"detail":"Admin access required"})")).code, Code::forbidden);
  EXPECT_EQ(failure(answer(403, R"({"detail":{"error":"policy","reasons":["no"]}})")).code,
            Code::policy_denied);
  EXPECT_EQ(failure(answer(403, R"({"detail":{"error":"needs_approval"}})")).code, Code::needs_approval);
  EXPECT_EQ(failure(answer(422, R"({"detail":[{"loc":["body","config"],"msg":"is missing"}]})")).message,
            "http://t.example answered 422: config: is missing");
  EXPECT_EQ(failure(answer(500, "<html>")).code, Code::upstream);
  auto throttled = failure(answer(429, R"({"detail":"Too many"})", {{"Retry-After", "30"}}));
  EXPECT_EQ(throttled.code, Code::throttled);
  EXPECT_EQ(throttled.message, "http://t.example answered 429: Too many (try again in 30 s)");
}

TEST(ApiClient, TakesNoPageForJson) {
  auto error = failure(answer(200, "<!DOCTYPE html>"));
  EXPECT_EQ(error.code, Code::upstream);
  EXPECT_NE(error.message.find("without JSON"), std::string::npos);
}

TEST(Login, SendsAFormAndKeepsTheToken) {
  Canned http;
  http.response = answer(200, R"({"access_token":"a.b.c"})");
  auto api = must(ApiClient::open(http, {"http://t", {}, {}}));
  must(api.login("ro ot", Secret("p&w")));
  EXPECT_EQ(http.body, "username=ro%20ot&password=p%26w");
  (void)api.get("/x");
  EXPECT_EQ(http.authorization, "Bearer a.b.c");
}

TEST(Login, TellsOfASecondFactor) {
  Canned http;
  http.response = answer(202, R"({"mfa_required":true})");
  auto api = must(ApiClient::open(http, {"http://t", {}, {}}));
  auto error = api.login("root", Secret("pw")).error();
  EXPECT_EQ(error.code, Code::unauthenticated);
  EXPECT_NE(error.message.find("second factor"), std::string::npos);
  EXPECT_NE(error.message.find("--token-file"), std::string::npos);
}

}  // namespace
}  // namespace dash::net
