#include "core/migrate/plan.hpp"

#include <gtest/gtest.h>

#include "core/migrate/http_target.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_dashboard.hpp"
#include "tests/support/must.hpp"

namespace dash::migrate {
namespace {

constexpr std::string_view kTarget = "http://t.example";

class Planning {
 public:
  explicit Planning(FakeDashboard& dashboard)
      : api_(must(net::ApiClient::open(dashboard, {std::string(kTarget), {}, {}}))),
        target_(api_, Secret()) {}
  Diff diff(Bundle bundle) {
    NoProgress progress;
    auto selected = must(select(bundle, {}, "b"));
    return must(compare(bundle, selected, target_, {}, progress));
  }

 private:
  net::ApiClient api_;
  HttpTarget target_;
};

struct PlanTest : testing::Test {
  PlanTest() {
    dashboard.config = {{"a", "1"}, {"epml_pat", "hidden"}};
    dashboard.masked = {"epml_pat"};
    plan = must(parse_plan(
        write_plan(make_plan(bundle, "/b.json", planning.diff(bundle), {}, kTarget, FakeClock().now())),
        "p"));
  }
  Result<void> check(const std::vector<std::string>& accepted = {}) {
    return check_plan(plan, bundle, planning.diff(bundle), kTarget, accepted);
  }
  std::string drift(const std::vector<std::string>& accepted = {}) {
    auto result = check(accepted);
    if (!result) {
      EXPECT_EQ(result.error().code, Code::drift);
    }
    return result ? "" : result.error().message;
  }
  FakeDashboard dashboard;
  Planning planning{dashboard};
  Bundle bundle = must(parse_bundle(R"({"config":{"a":"2","b":"3","epml_pat":"new"}})", "b"));
  MigrationPlan plan;
};

TEST_F(PlanTest, HoldsWhileTheTargetStandsStill) { EXPECT_EQ(drift(), ""); }

TEST_F(PlanTest, NamesTheKeysThatMoved) {
  dashboard.config["a"] = "9";
  dashboard.config["b"] = "9";
  EXPECT_NE(drift().find("--accept-drift: a, b"), std::string::npos);
  EXPECT_NE(drift({"a"}).find("--accept-drift: b"), std::string::npos);
  EXPECT_EQ(drift({"a", "b"}), "");
}

TEST_F(PlanTest, AKeyThatGotThePlannedValueMeanwhileIsNoDrift) {
  dashboard.config["a"] = "2";
  dashboard.config["epml_pat"] = "new";
  EXPECT_EQ(drift(), "");
}

TEST_F(PlanTest, AKeyThatWentAwayIsDrift) {
  dashboard.config.erase("a");
  EXPECT_NE(drift().find(": a"), std::string::npos);
}

TEST_F(PlanTest, IsBoundToBundleAndTarget) {
  bundle = must(parse_bundle(R"({"config":{"a":"3","b":"3","epml_pat":"new"}})", "b"));
  EXPECT_NE(drift().find("the bundle changed"), std::string::npos);
  EXPECT_EQ(check_plan(plan, bundle, planning.diff(bundle), "http://other", {}).error().code, Code::usage);
}

TEST_F(PlanTest, HoldsNoValueAndNoPlainDigestOfOne) {
  auto text = write_plan(plan);
  EXPECT_EQ(text.find("hidden"), std::string::npos);
  auto again = make_plan(bundle, "/b.json", planning.diff(bundle), {}, kTarget, FakeClock().now());
  EXPECT_NE(again.states["a"], plan.states["a"]);
}

TEST(BrokenPlan, IsRefusedByName) {
  for (auto text : {"", "[]", "{}", R"({"schema":2})", R"({"schema":1,"hash_key":"00","states":{}})"}) {
    auto result = parse_plan(text, "p.json");
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, Code::integrity);
    EXPECT_NE(result.error().message.find("p.json"), std::string::npos);
  }
}

}  // namespace
}  // namespace dash::migrate
