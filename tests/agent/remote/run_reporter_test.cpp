#include "core/agent/remote/run_reporter.hpp"

#include <gtest/gtest.h>

#include "core/automation/output_lines.hpp"
#include "tests/support/agent_http.hpp"
#include "tests/support/fake_clock.hpp"

namespace dash::agent {
namespace {

using automation::Outcome;
using automation::RunEvent;

class ReportOfARun : public ::testing::Test {
 protected:
  ReportOfARun() {
    for (int i = 0; i < 50; ++i) http_.answer("logs", 200);
    hosts_ = {{"web1", "10.0.0.1", 22, "deploy"}, {"web2", "10.0.0.2", 22, "deploy"}};
  }
  Json sent_lines() {
    Json out = Json::array();
    for (const auto& sent : http_.sent)
      if (sent.url.ends_with("/logs")) {
        auto body = must(parse_json(sent.body));
        out.insert(out.end(), body["lines"].begin(), body["lines"].end());
      }
    return out;
  }
  AgentHttp http_;
  FakeClock clock_;
  const Identity identity_ = test_identity();
  DashboardClient dashboard_{http_, clock_, identity_, {"https://dash.example", {}}};
  JobReports reports_{dashboard_, [] { return false; }};
  const LeasedJob job_{"j-1"};
  std::vector<AutomationHost> hosts_;
  const jobs::SecretMask mask_{{"hunter2-hunter2"}};
};

TEST_F(ReportOfARun, SendsTheWholeLogWithoutItsSecrets) {
  {
    RunReporter reporter(reports_, job_, hosts_, mask_);
    reporter.on_output("login with hunter2-hunter2");
    reporter.on_event({RunEvent::Kind::lines, {}, {"PLAY [all]", "second"}, Outcome::none, ""});
  }
  auto lines = sent_lines();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "login with ********");
  EXPECT_EQ(lines[2], "second");
}

TEST_F(ReportOfARun, SendsNoPieceOfASecretThatWasCut) {
  std::string line(automation::kMaxOutputLine - 6, 'x'), error(automation::kMaxOutputError - 6, 'y');
  {
    RunReporter reporter(reports_, job_, hosts_, mask_);
    reporter.on_output(line + "hunter");
    reporter.on_event({RunEvent::Kind::outcome, "web2", {}, Outcome::failed, error + "hunter"});
    EXPECT_EQ(reporter.hosts()[1].error, error);
  }
  EXPECT_EQ(sent_lines()[0], line);
}

TEST_F(ReportOfARun, FollowsItsOwnHostsAlone) {
  RunReporter reporter(reports_, job_, hosts_, mask_);
  reporter.on_event({RunEvent::Kind::outcome, "web2", {}, Outcome::failed, "with hunter2-hunter2"});
  reporter.on_event({RunEvent::Kind::outcome, "stranger", {}, Outcome::failed, ""});
  EXPECT_EQ(reporter.bad_hosts(), 1u);
  auto hosts = reporter.hosts();
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].outcome, "");
  EXPECT_EQ(hosts[1].outcome, "failed");
  EXPECT_EQ(hosts[1].error, "with ********");
}

TEST_F(ReportOfARun, EndsTheLogWhereAJobKeepsNoMore) {
  for (int i = 0; i < 50; ++i) http_.answer("logs", 200);
  {
    RunReporter reporter(reports_, job_, hosts_, mask_);
    std::string many(static_cast<std::size_t>(kMaxLinesPerJob) + 10, '\n');
    reporter.on_output(many);
  }
  auto lines = sent_lines();
  EXPECT_EQ(std::ssize(lines), kMaxLinesPerJob);
  EXPECT_NE(lines.back().get<std::string>().find("ends here"), std::string::npos);
}

}  // namespace
}  // namespace dash::agent
