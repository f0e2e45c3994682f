#include "daemon/routes/contract.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::daemon {
namespace {

// What the checked route of this method and pattern answers when its handler answers so.
Result<Response> answer(const std::string& method, const std::string& pattern, Result<Response> of_handler,
                        const std::string& body = "") {
  auto shared = std::make_shared<Result<Response>>(std::move(of_handler));
  auto routes = check_contract({{.method = method,
                                 .pattern = pattern,
                                 .auth = Auth::anybody,
                                 .handler = [shared](Request&) { return std::move(*shared); },
                                 .body = Body::small}});
  Request request;
  request.method = method;
  request.body = body;
  request.headers.add("Content-Type", "application/json");
  return routes.at(0).handler(request);
}

void expect_violation(const Result<Response>& outcome, std::string_view words) {
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, Code::internal);
  EXPECT_NE(outcome.error().message.find(words), std::string::npos) << outcome.error().message;
}

const OrderedJson kAlive{{"alive", true}};
const OrderedJson kToken{{"id", "1"},
                         {"name", "n"},
                         {"username", "u"},
                         {"created_at", "2026-07-03T14:00:00Z"},
                         {"expires_at", nullptr},
                         {"last_used_at", nullptr},
                         {"is_active", true},
                         {"token", "dash_x"}};

TEST(Contract, LetsPassWhatIsDescribed) {
  EXPECT_EQ(must(answer("GET", "/livez", json_response(200, kAlive))).status, 200);
  EXPECT_EQ(
      must(answer("POST", "/api/tokens", json_response(201, kToken), R"({"name":"n","expires_days":null})"))
          .status,
      201);
}

TEST(Contract, LetsPassTheRefusalOfAnUndescribedRequest) {
  auto refused = answer("POST", "/api/tokens", fail(Code::conflict, "no"), R"({"name":7})");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
}

TEST(Contract, FindsAStatusThatIsNotDescribed) {
  expect_violation(answer("GET", "/livez", json_response(418, kAlive)), "418 is not described");
  expect_violation(answer("GET", "/livez", fail(Code::conflict, "no")), "409 is not described");
}

TEST(Contract, FindsAnAnswerOfAnotherShape) {
  expect_violation(answer("GET", "/livez", json_response(200, OrderedJson{{"alive", "yes"}})), "body of 200");
  expect_violation(answer("GET", "/livez", json_response(200, OrderedJson::object())), "body of 200");
  expect_violation(answer("GET", "/livez", json_response(200, OrderedJson{{"alive", true}, {"pid", 1}})),
                   "pid");
  expect_violation(answer("GET", "/livez", text_response(200, "text/plain", "yes")),
                   "text/plain is not described");
}

TEST(Contract, FindsARequestThatShouldHaveBeenRefused) {
  expect_violation(answer("POST", "/api/tokens", json_response(201, kToken), R"({"name":7})"),
                   "goes against the description");
}

TEST(Contract, LeavesARowWithoutADescriptionAsItIs) {
  EXPECT_EQ(must(answer("GET", "/no/such/path", json_response(418, kAlive))).status, 418);
}

}  // namespace
}  // namespace dash::daemon
