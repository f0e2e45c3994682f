#include "daemon/routes/body.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::daemon {
namespace {

// The 422 body of a refusal, as it goes out.
std::string refusal(const Error& error) {
  auto response = error_response(error);
  EXPECT_EQ(response.status, 422);
  return response.body;
}

Request with_body(std::string_view body) {
  Request request;
  request.body = body;
  return request;
}

TEST(RequestBody, AMissingFieldIsNamedInTheShapeOfThePeers) {
  auto object = must(json_object(with_body(R"({"password":"x"})")));
  EXPECT_EQ(
      refusal(required_string(object, "username").error()),
      R"({"detail":[{"type":"missing","loc":["body","username"],"msg":"Field required","input":null}]})");
}

TEST(RequestBody, AWrongTypeTellsTheValueBack) {
  Json object{{"n", "x"}, {"s", 1}, {"b", "true"}, {"o", Json::object()}};
  EXPECT_EQ(
      refusal(required_string(object, "s").error()),
      R"({"detail":[{"type":"string_type","loc":["body","s"],"msg":"Input should be a valid string","input":1}]})");
  EXPECT_TRUE(refusal(optional_bool(object, "b").error()).find("bool_type") != std::string::npos);
  EXPECT_TRUE(refusal(required_int(object, "n").error()).find("int_type") != std::string::npos);
  EXPECT_TRUE(refusal(optional_string(object, "o").error()).find(R"("input":null)") != std::string::npos);
}

TEST(RequestBody, NullIsAbsent) {
  Json object{{"s", nullptr}};
  EXPECT_EQ(must(optional_string(object, "s")), std::nullopt);
  EXPECT_EQ(must(optional_int(object, "i")), std::nullopt);
}

TEST(RequestBody, AnIntegerBeyond63BitsIsNone) {
  EXPECT_FALSE(required_int(Json{{"n", 18446744073709551615u}}, "n"));
  EXPECT_FALSE(required_int(Json{{"n", 1.5}}, "n"));
  EXPECT_EQ(must(required_int(Json{{"n", -5}}, "n")), -5);
}

TEST(RequestBody, WhatIsNoJsonObjectIs422) {
  for (auto body : {"", "{", "[1]", "\"text\"", "nul"}) refusal(json_object(with_body(body)).error());
  EXPECT_EQ(must(json_body(with_body("[1]"))), Json({1}));
}

TEST(RequestBody, WhatIsNoJsonIsToldWithItsPlace) {
  auto told = must(parse_json(refusal(json_object(with_body("{oops")).error())));
  EXPECT_EQ(told["detail"][0], Json({{"type", "json_invalid"},
                                     {"loc", {"body", 1}},
                                     {"msg", "JSON decode error: not JSON (error at byte 2)"},
                                     {"input", Json::object()}}));
}

TEST(RequestBody, AFormIsDecoded) {
  EXPECT_EQ(must(form_body(with_body("username=a%40b&password=x+y"))).get("username"), "a@b");
  refusal(form_body(with_body("a=%")).error());
}

TEST(ErrorResponse, CarriesTheBodyThatTheSpecShapes) {
  Error error{.code = Code::policy_denied,
              .message = "denied",
              .detail = "secret detail",
              .body = std::make_shared<OrderedJson>(OrderedJson{{"error", "policy"}})};
  auto response = error_response(error);
  EXPECT_EQ(response.status, 403);
  EXPECT_EQ(response.body, R"({"detail":{"error":"policy"}})");
}

TEST(ErrorResponse, TellsWhenToComeAgainAndKeepsTheDetail) {
  auto error = throttled(std::chrono::seconds(7), "too many attempts");
  error.detail = "secret detail";
  auto response = error_response(error);
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.headers.get("Retry-After"), "7");
  EXPECT_EQ(response.body, R"({"detail":"too many attempts"})");
}

}  // namespace
}  // namespace dash::daemon
