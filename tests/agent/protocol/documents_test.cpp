#include "core/agent/protocol/documents.hpp"

#include <gtest/gtest.h>

#include "core/agent/protocol/canonical_json.hpp"
#include "tests/agent/protocol/vectors.hpp"

namespace dash::agent {
namespace {

Json json(std::string_view text) { return must(parse_json(text)); }
Json plain(const OrderedJson& document) { return json(dump_json(document)); }

Json body_of(std::string_view name) {
  for (const auto& vector : vectors()["agent_requests"])
    if (vector["name"] == name) return json(vector["body"].get<std::string>());
  throw std::runtime_error("no such vector");
}

TEST(AgentDocuments, ReadAndWriteTheBodiesOfADeployedAgent) {
  EXPECT_EQ(plain(to_json(must(read_enrol_request(body_of("enroll"))))), body_of("enroll"));
  EXPECT_EQ(plain(to_json(must(read_lease_request(body_of("lease"))))), body_of("lease"));
  EXPECT_EQ(plain(to_json(must(read_heartbeat(body_of("heartbeat"))))), body_of("heartbeat"));
  EXPECT_EQ(plain(to_json(must(read_completion(body_of("complete, failed"))))), body_of("complete, failed"));
  EXPECT_EQ(plain(to_json(must(read_completion(body_of("complete, completed"))))),
            body_of("complete, completed"));
  EXPECT_EQ(plain(to_json(must(read_secret_request(body_of("secret"))))), body_of("secret"));
}

TEST(AgentDocuments, ReadAndWriteTheAnswersOfADeployedDashboard) {
  for (const auto& exchange : vectors()["exchanges"]) {
    if (exchange["status"] != 200) continue;
    auto answer = json(exchange["response_body"].get<std::string>());
    if (exchange["path"] == "/api/agent/enroll") {
      EXPECT_EQ(plain(to_json(must(read_enrol_reply(answer)))), answer) << exchange["name"];
    }
    if (exchange["path"] == "/api/agent/lease") {
      EXPECT_EQ(plain(to_json(must(read_lease_reply(answer)))), answer) << exchange["name"];
    }
  }
}

TEST(AgentDocuments, LeaseTakesWhatItDoesNotKnowAndBoundsItsWait) {
  auto lease = must(read_lease_request(json(R"({"wait_s":900,"more":{"x":1},"features":["ranges"]})")));
  EXPECT_EQ(lease.wait_s, kMaxWaitSeconds);
  EXPECT_EQ(lease.features, std::vector<std::string>{"ranges"});
  EXPECT_FALSE(lease.agent_version);
  EXPECT_FALSE(lease.job_types);
  EXPECT_FALSE(read_lease_request(json(R"({"job_types":[1]})")));
  EXPECT_FALSE(read_lease_request(json("[]")));
}

TEST(AgentDocuments, LogLinesAreCutAndStripped) {
  Json body{{"lines", {"Z\u00fcrich \x1b[31mred\x7f\ttab", std::string(9000, 'x')}}};
  auto lines = must(read_log_lines(body)).lines;
  EXPECT_EQ(lines[0], "Z\u00fcrich [31mred\ttab");
  EXPECT_EQ(lines[1].size(), kMaxLineChars);
  EXPECT_EQ(read_log_lines({{"lines", std::vector<std::string>(501)}}).error().code, Code::invalid);
}

TEST(AgentDocuments, LogLinesMayBeNumbered) {
  EXPECT_EQ(dump_json(to_json(LogLines{{"a"}})), R"({"lines":["a"]})");
  EXPECT_EQ(must(read_log_lines(Json(to_json(LogLines{{"a"}, 7})))).first, 7);
  EXPECT_EQ(must(read_log_lines(json(R"({"lines":["a"]})"))).first, 0);
  EXPECT_EQ(read_log_lines(json(R"({"lines":[],"first":0})")).error().code, Code::invalid);
  EXPECT_EQ(read_log_lines(json(R"({"lines":[],"first":9223372036854775807})")).error().code, Code::invalid);
  EXPECT_EQ(read_log_lines(json(R"({"lines":[],"first":"1"})")).error().code, Code::validation);
}

TEST(AgentDocuments, CompletionHasOneOfTwoStatuses) {
  EXPECT_EQ(read_completion(json(R"({"status":"done"})")).error().code, Code::invalid);
  EXPECT_TRUE(must(read_completion(json(R"({"status":"completed"})"))).is_completed);
}

}  // namespace
}  // namespace dash::agent
