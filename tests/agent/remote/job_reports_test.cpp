#include "core/agent/remote/job_reports.hpp"

#include <gtest/gtest.h>

#include "tests/support/agent_http.hpp"
#include "tests/support/fake_clock.hpp"

namespace dash::agent {
namespace {

class Reports : public ::testing::Test {
 protected:
  AgentHttp http_;
  FakeClock clock_;
  const Identity identity_ = test_identity();
  DashboardClient dashboard_{http_, clock_, identity_, {"https://dash.example", {}}};
  bool is_stopping_ = false;
  JobReports reports_{dashboard_, [this] { return is_stopping_; }};
  const LeasedJob job_{"j-1"};
};

TEST_F(Reports, SendAnEndThatBreaksAgainAsItWas) {
  http_.fail_with("complete", Code::unreachable);
  http_.answer("complete", 503);
  http_.answer("complete", 200);
  EXPECT_TRUE(reports_.complete(job_, {true, {{"size", 1}}, ""}));
  ASSERT_EQ(http_.sent.size(), 3u);
  EXPECT_EQ(http_.sent[0].body, http_.sent[2].body);
}

TEST_F(Reports, TakeARefusalForAnAnswer) {
  http_.answer("complete", 409);
  EXPECT_TRUE(reports_.complete(job_, {true, Json::object(), ""}));
  http_.answer("complete", 401);
  EXPECT_TRUE(reports_.complete(job_, {true, Json::object(), ""}));
  EXPECT_EQ(http_.sent.size(), 2u);
}

TEST_F(Reports, TryOnceMoreWhenTheAgentEnds) {
  is_stopping_ = true;
  for (int i = 0; i < 5; ++i) http_.fail_with("complete", Code::unreachable);
  EXPECT_FALSE(reports_.complete(job_, {true, Json::object(), ""}));
  EXPECT_EQ(http_.sent.size(), 2u);
}

TEST_F(Reports, SendLogsInRequestsThatADashboardTakes) {
  for (int i = 0; i < 3; ++i) http_.answer("logs", 200);
  EXPECT_TRUE(reports_.logs(job_, std::vector<std::string>(1001, "line"), 8));
  ASSERT_EQ(http_.sent.size(), 3u);
  EXPECT_EQ(must(parse_json(http_.sent[0].body))["first"], 8);
  auto last = must(parse_json(http_.sent[2].body));
  EXPECT_EQ(last["lines"].size(), 1u);
  EXPECT_EQ(last["first"], 1008);
}

TEST_F(Reports, ReadACancellationFromA200Alone) {
  http_.answer("heartbeat", 200, R"({"cancel_requested":true})");
  http_.answer("heartbeat", 409, R"({"cancel_requested":true})");
  http_.answer("heartbeat", 200, R"({"cancel_requested":"yes"})");
  EXPECT_TRUE(reports_.is_cancelled(job_, {50, "running"}));
  EXPECT_FALSE(reports_.is_cancelled(job_, {50, "running"}));
  EXPECT_FALSE(reports_.is_cancelled(job_, {50, "running"}));
}

TEST(CompletionOfAJob, ShowsNoSecretAndMarksARefusal) {
  JobContext context{{"hunter2-hunter2", "pw12"}};
  auto refused = completion_of(fail(Code::policy_denied, "no"), context);
  EXPECT_EQ(refused.error, "Agent policy refused: no");
  auto broken = completion_of(fail(Code::upstream, "login with hunter2-hunter2 or pw12 failed"), context);
  EXPECT_EQ(broken.error.find("hunter2"), std::string::npos);
  EXPECT_EQ(broken.error.find("pw12"), std::string::npos);
  EXPECT_FALSE(broken.is_completed);
  EXPECT_EQ(completion_of(fail(Code::upstream, "{}", std::string(5000, 'x')), {}).error.size(),
            kMaxErrorChars);
}

TEST(CompletionOfAJob, IsNoResultThatADashboardWouldDrop) {
  auto completion = completion_of(Json{{"x", std::string(kMaxResultBytes, 'x')}}, {});
  EXPECT_FALSE(completion.is_completed);
  EXPECT_NE(completion.error.find("262144"), std::string::npos);
}

}  // namespace
}  // namespace dash::agent
