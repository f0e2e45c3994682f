// An engine that hangs, dies or misreports at its start: what its callers get, and what is left of it.
#include <atomic>
#include <thread>

#include "tests/support/fake_engine.hpp"
#include "tests/support/opa_engine.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::policy {
namespace {

using Millis = std::chrono::milliseconds;

// Forks, ignores SIGTERM and never listens.
constexpr std::string_view kHangs =
    "trap '' TERM\n/bin/sleep 1000 &\necho $! >> $HERE/pids\nexec /bin/sleep 1000";
constexpr std::string_view kHangsWhileTold =
    "if [ -e $HERE/hang ]; then exec /bin/sleep 1000; fi\nexec $REAL \"$@\"";

class HangingEngine : public testing::Test {
 protected:
  std::unique_ptr<Engine> engine(const FakeEngine& fake, Millis deadline, Millis build_timeout) {
    EngineOptions options;
    options.directory = folder_.path();
    options.binary = fake.path();
    options.decision_timeout = deadline;
    options.build_timeout = build_timeout;
    auto out = make_opa(options);
    out->use_server_deadlines();
    return out;
  }
  PolicyFolder folder_;
};

TEST_F(HangingEngine, HoldsNoCallerBeyondHisDeadlineAndSharesOneBuildAmongAll) {
  FakeEngine fake("exec /bin/sleep 1000");
  auto engine = this->engine(fake, Millis(300), std::chrono::minutes(5));
  std::atomic<int> refused = 0;
  std::vector<std::jthread> callers;
  for (int i = 0; i < 12; ++i)
    callers.emplace_back([&] {
      for (int again = 0; again < 2; ++again)
        if (auto judged = engine->evaluate(kDeploy); cause(judged).find("in time") != std::string::npos)
          ++refused;
    });
  callers.clear();
  EXPECT_EQ(refused, 24);
  EXPECT_TRUE(wait_until([&] { return fake.runs() == 1; }));
  EXPECT_EQ(engine->status().state, EngineState::building);
}

TEST_F(HangingEngine, GivesABuildUpAndKillsAllThatItStarted) {
  FakeEngine fake(kHangs);
  auto engine = this->engine(fake, std::chrono::minutes(1), std::chrono::seconds(2));
  EXPECT_NE(cause(engine->evaluate(kDeploy)).find("was not ready within 2 s"), std::string::npos);
  EXPECT_EQ(engine->status().state, EngineState::unavailable);
  EXPECT_EQ(fake.runs(), 2u);  // the engine and its child
  EXPECT_TRUE(wait_until([&] { return fake.alive().empty(); }));
}

TEST_F(HangingEngine, GivesUpACheckOfTheRulesThatHangs) {
  folder_.rule("r", "deny contains \"x\"");
  FakeEngine fake("exit 1");
  std::ofstream(fake.path()) << "#!/bin/sh\nexec /bin/sleep 1000\n";
  auto engine = this->engine(fake, std::chrono::minutes(1), Millis(500));
  EXPECT_NE(cause(engine->evaluate(kDeploy)).find("was not ready within 0.5 s"), std::string::npos);
}

TEST_F(HangingEngine, RemembersAFailedBuildForASecond) {
  FakeEngine fake("exit 3");
  auto engine = this->engine(fake, std::chrono::minutes(1), kBuildTimeout);
  auto first = cause(engine->evaluate(kDeploy));
  EXPECT_NE(first.find("ended at its start"), std::string::npos);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(cause(engine->evaluate(kDeploy)), first);
  EXPECT_EQ(fake.runs(), 1u);
  EXPECT_TRUE(wait_until([&] { return !engine->evaluate(kDeploy) && fake.runs() == 2; }));
}

TEST_F(HangingEngine, BuildsAtOnceForAFolderThatChangedAfterAFailure) {
  FakeEngine fake("if [ -e $HERE/fail ]; then exit 3; fi\nexec $REAL \"$@\"");
  fake.put("fail");
  auto engine = this->engine(fake, std::chrono::minutes(1), std::chrono::minutes(1));
  EXPECT_FALSE(engine->evaluate(kDeploy));
  fake.remove("fail");
  folder_.rule("r", "deny contains \"x\"");
  EXPECT_TRUE(must(engine->evaluate(kDeploy)).outcomes.contains("r"));
}

TEST_F(HangingEngine, IsNotStartedByAReport) {
  FakeEngine fake("exec $REAL \"$@\"");
  auto engine = this->engine(fake, kDecisionTimeout, kBuildTimeout);
  EXPECT_EQ(engine->status().state, EngineState::idle);
  EXPECT_FALSE(engine->status().fault);
  EXPECT_FALSE(fake.has("starts"));
}

TEST_F(HangingEngine, ShowsTheLastStateWhileAnotherIsBuilt) {
  FakeEngine fake(kHangsWhileTold);
  auto engine = this->engine(fake, std::chrono::minutes(1), std::chrono::minutes(5));
  auto before = must(engine->evaluate(kDeploy)).rules;
  fake.put("hang");
  folder_.rule("r", "deny contains \"x\"");
  auto status = engine->refresh(std::chrono::steady_clock::now() + Millis(200));
  EXPECT_TRUE(wait_until([&] {
    status = engine->refresh(std::chrono::steady_clock::now() + Millis(200));
    return fake.runs() == 2;
  }));
  EXPECT_EQ(status.state, EngineState::building);
  EXPECT_EQ(status.rules, before);
  EXPECT_EQ(status.files, (std::vector<std::string>{"r.rego"}));
}

TEST_F(HangingEngine, EndsItsBuildAndFreesItsCallersWhenItIsCancelled) {
  FakeEngine fake(kHangs);
  auto engine = this->engine(fake, std::chrono::minutes(5), std::chrono::minutes(5));
  std::string told;
  std::jthread caller([&] { told = cause(engine->evaluate(kDeploy)); });
  ASSERT_TRUE(wait_until([&] { return fake.runs() == 2; }));
  engine->cancel();
  caller.join();
  EXPECT_NE(told.find("the server stops"), std::string::npos) << told;
  EXPECT_TRUE(wait_until([&] { return fake.alive().empty(); }));
  EXPECT_NE(cause(engine->evaluate(kDeploy)).find("the server stops"), std::string::npos);
}

TEST_F(HangingEngine, JudgesOnWithTheEngineThatRunsAfterItIsCancelled) {
  FakeEngine fake("exec $REAL \"$@\"");
  auto engine = this->engine(fake, std::chrono::minutes(1), std::chrono::minutes(1));
  ASSERT_TRUE(wait_until([&] { return bool(engine->evaluate(kDeploy)); }));
  engine->cancel();
  EXPECT_TRUE(
      wait_until([&] { return bool(engine->evaluate(kDeploy)); }));  // once the folder's stamps are old
}

TEST_F(HangingEngine, IsReplacedByALookWhenItIsStuckOrGone) {
  FakeEngine fake("exec $REAL \"$@\"");
  auto engine = this->engine(fake, std::chrono::minutes(1), std::chrono::minutes(1));
  must(engine->evaluate(kDeploy));
  for (int signal : {SIGSTOP, SIGKILL}) {
    auto before = fake.runs();
    ASSERT_EQ(fake.alive().size(), 1u);
    ::kill(fake.alive()[0], signal);
    EXPECT_TRUE(wait_until([&] {
      engine->request_check();
      return fake.runs() > before && engine->status().state == EngineState::ready;
    }));
  }
  EXPECT_TRUE(engine->evaluate(kDeploy));
}

TEST_F(HangingEngine, IsReplacedWhenItLeavesACallerWithoutAnAnswer) {
  FakeEngine fake("exec $REAL \"$@\"");
  auto engine = this->engine(fake, std::chrono::minutes(1), std::chrono::minutes(1));
  must(engine->evaluate(kDeploy));
  ::kill(fake.alive().at(0), SIGSTOP);
  EXPECT_NE(cause(engine->evaluate(kDeploy)).find("in time"), std::string::npos);
  EXPECT_TRUE(wait_until([&] { return bool(engine->evaluate(kDeploy)); }));
  EXPECT_EQ(fake.runs(), 2u);
}

TEST_F(HangingEngine, SeesByALookThatTheRulesBrokeAndThatTheyWereMended) {
  FakeEngine fake("exec $REAL \"$@\"");
  auto engine = this->engine(fake, std::chrono::minutes(1), std::chrono::minutes(1));
  auto becomes = [&](EngineState state) {
    return wait_until([&] {
      engine->request_check();
      return engine->status().state == state;
    });
  };
  EXPECT_TRUE(becomes(EngineState::ready));
  folder_.put("x.rego", "package admission.x\ndeny contains");
  EXPECT_TRUE(becomes(EngineState::broken));
  EXPECT_EQ(engine->status().fault->file, "x.rego");
  folder_.remove("x.rego");
  EXPECT_TRUE(becomes(EngineState::ready));
}

struct BuildSeconds {
  explicit BuildSeconds(const char* text) { ::setenv("DASHCTL_POLICY_BUILD_SECONDS", text, 1); }
  ~BuildSeconds() { ::unsetenv("DASHCTL_POLICY_BUILD_SECONDS"); }
};

TEST(EngineBuildTimeout, IsFiveSecondsOrWhatTheVariableSays) {
  EXPECT_EQ(must(engine_build_timeout()), std::chrono::seconds(5));
  for (auto [text, expected] : {std::pair("", 5'000), {"1", 1'000}, {"0.5", 500}, {"60", 60'000}}) {
    BuildSeconds set(text);
    EXPECT_EQ(must(engine_build_timeout()), Millis(expected)) << text;
  }
}

TEST(EngineBuildTimeout, RefusesWhatIsNoTime) {
  for (auto text : {"0", "-1", "61", "1e9", "inf", "nan", "five", "5s", " 5"}) {
    BuildSeconds set(text);
    auto refused = engine_build_timeout();
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().code, Code::usage);
    EXPECT_NE(refused.error().message.find("at most 60"), std::string::npos);
  }
}

}  // namespace
}  // namespace dash::policy
