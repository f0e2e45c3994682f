// The engine as a child: slow, missing, killed, confined.
#include <signal.h>

#include <thread>

#include "tests/support/opa_engine.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::policy {
namespace {

TEST_F(OpaEngine, ClosesForARuleThatTakesTooLong) {
  folder_.rule("slow",
               "deny contains \"x\" if {\n  some a in numbers.range(1, 30000)\n  some b in numbers.range(1, "
               "30000)\n  a * b == -1\n}");
  EngineOptions options;
  options.directory = folder_.path();
  options.binary = real_engine();
  options.decision_timeout = std::chrono::milliseconds(150);
  auto engine = make_opa(options);
  engine->use_server_deadlines();
  EXPECT_EQ(engine->refresh(std::chrono::steady_clock::now() + std::chrono::minutes(1)).state,
            EngineState::ready);
  EXPECT_NE(cause(engine->evaluate(kDeploy)).find("in time"), std::string::npos);
  folder_.remove("slow.rego");
  engine->refresh(std::chrono::steady_clock::now() + std::chrono::minutes(1));
  EXPECT_TRUE(engine->evaluate(kDeploy));
}

TEST_F(OpaEngine, ClosesWithoutABinaryAndHealsWhenItComes) {
  auto place = folder_.path() + "/../opa";
  auto engine = folder_.engine(place);
  EXPECT_NE(cause(engine->evaluate(kDeploy)).find("POLICY_BINARY"), std::string::npos);
  std::filesystem::copy_file(real_engine(), place);
  EXPECT_TRUE(engine->evaluate(kDeploy));
}

TEST_F(OpaEngine, ClosesForAFileThatIsNoProgram) {
  folder_.put("engine.txt", "not a program");
  EXPECT_FALSE(folder_.engine(folder_.path() + "/engine.txt")->evaluate(kDeploy));
  std::filesystem::permissions(folder_.path() + "/engine.txt", std::filesystem::perms::all);
  EXPECT_FALSE(folder_.engine(folder_.path() + "/engine.txt")->evaluate(kDeploy));
}

// Process ids of our children with `opa run` in their command line.
std::vector<int> engines() {
  std::vector<int> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    int pid = std::atoi(entry.path().filename().c_str());
    if (pid == 0) continue;
    std::ifstream line(entry.path() / "cmdline"), stat(entry.path() / "stat");
    std::string words((std::istreambuf_iterator<char>(line)), {}),
        rest((std::istreambuf_iterator<char>(stat)), {});
    auto after = rest.rfind(") ");
    int parent = after == rest.npos ? 0 : std::atoi(rest.c_str() + after + 4);
    if (parent == ::getpid() && words.find("--server") != words.npos) out.push_back(pid);
  }
  return out;
}

TEST_F(OpaEngine, RestartsAKilledEngineWithoutAnErrorToTheCaller) {
  folder_.rule("r", "deny contains \"x\"");
  must(engine_->evaluate(kDeploy));
  for (int i = 0; i < 3; ++i) {
    auto running = engines();
    ASSERT_EQ(running.size(), 1u);
    ::kill(running[0], SIGKILL);
    EXPECT_TRUE(must(engine_->evaluate(kDeploy)).outcomes.contains("r"));
  }
}

TEST_F(OpaEngine, KeepsOneEngineAndEndsTheOldOne) {
  for (int i = 0; i < 5; ++i) {
    folder_.rule("r", fmt::format("deny contains \"{}\"", i));
    must(engine_->evaluate(kDeploy));
  }
  EXPECT_EQ(engines().size(), 1u);
  engine_.reset();
  EXPECT_EQ(engines().size(), 0u);
}

TEST_F(OpaEngine, AnswersManyThreadsWhileTheRulesChange) {
  folder_.rule("r", "deny contains \"x\"");
  std::atomic<int> bad{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        auto judged = engine_->evaluate(kDeploy);
        if (!judged || !judged->outcomes.contains("r")) ++bad;
      }
    });
  for (int i = 0; i < 5; ++i) {
    folder_.put("new.tmp", fmt::format("package admission.other\ndeny contains \"{}\"", i));
    std::filesystem::rename(folder_.path() + "/new.tmp", folder_.path() + "/other.rego");
    must(engine_->evaluate(kDeploy));
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(bad, 0);
}

// Rules older than the grain of the stamps are compared while the engine already works on the question.
TEST_F(OpaEngine, AnswersByTheRulesThatStandWhenAQuestionComes) {
  for (int i = 0; i < 3; ++i) {
    auto reason = fmt::format("reason {}", i);
    folder_.rule("r", fmt::format("deny contains \"{}\"", reason));
    auto file = folder_.path() + "/r.rego";
    EXPECT_EQ(must(engine_->evaluate(kDeploy)).outcomes.at("r").deny, std::vector{reason});
    ASSERT_TRUE(wait_until([&] {
      return std::filesystem::file_time_type::clock::now() - std::filesystem::last_write_time(file) >
             std::chrono::milliseconds(100);
    }));
    for (int again = 0; again < 2; ++again)
      EXPECT_EQ(must(engine_->evaluate(kDeploy)).outcomes.at("r").deny, std::vector{reason});
  }
  folder_.remove("r.rego");
  EXPECT_TRUE(must(engine_->evaluate(kDeploy)).outcomes.empty());
}

std::string status_field(int pid, const std::string& name) {
  std::ifstream file(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":")) return line.substr(name.size() + 2);
  return "";
}

TEST_F(OpaEngine, RunsWithoutOurEnvironmentPrivilegesOrTheRightsOfRoot) {
  must(engine_->evaluate(kDeploy));
  auto running = engines();
  ASSERT_EQ(running.size(), 1u);
  std::ifstream environment(fmt::format("/proc/{}/environ", running[0]));
  auto processors = std::max(1u, std::thread::hardware_concurrency() / 2);
  EXPECT_EQ(std::string((std::istreambuf_iterator<char>(environment)), {}),
            fmt::format("GOGC=400{0}GOMAXPROCS={1}{0}", '\0', processors));
  EXPECT_EQ(status_field(running[0], "NoNewPrivs"), "1");
  auto uid = status_field(running[0], "Uid");
  EXPECT_EQ(::geteuid() == 0, uid.starts_with("65534\t")) << uid;
}

}  // namespace
}  // namespace dash::policy
