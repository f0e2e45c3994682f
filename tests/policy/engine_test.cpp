#include "core/policy/engine.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "tests/support/policy_folder.hpp"

namespace dash::policy {
namespace {

constexpr const char* kDeploy = R"({"action":"cloud1:vm:deploy","actor":{"username":"alice","is_admin":false},
  "request":{"region":"us-east-1","instance_type":"t3.medium","image":"ami-1","name":"web"},
  "limits":{"allowed_regions":[],"denied_instance_types":[],"prod_window":[]},
  "now":{"iso":"2026-07-03T14:00:00Z","weekday":"fri","hour":14}})";

std::string cause(const Result<Judgement>& r) { return r ? "judged" : r.error().message; }

class OpaEngine : public testing::Test {
 protected:
  PolicyFolder folder_;
  std::unique_ptr<Engine> engine_ = folder_.engine();
};

TEST_F(OpaEngine, AdmitsWhatNoRuleDenies) {
  auto judged = must(engine_->judge(kDeploy));
  EXPECT_TRUE(judged.answer.empty());
  EXPECT_EQ(judged.rules->digest.size(), 64u);
}

TEST_F(OpaEngine, NamesTheRulesWithTheirReasonsInOrder) {
  folder_.rule("zeta", "deny contains \"z\"");
  folder_.rule("alpha",
               "deny contains reason if some reason in [\"b\", \"a\"]\nneeds_approval contains \"ask\"");
  auto answer = must(engine_->judge(kDeploy)).answer;
  ASSERT_EQ(answer.size(), 2u);
  EXPECT_EQ(answer.begin()->first, "alpha");
  EXPECT_EQ(answer.at("alpha").deny, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(answer.at("alpha").needs_approval, (std::vector<std::string>{"ask"}));
  EXPECT_EQ(answer.at("zeta").deny, (std::vector<std::string>{"z"}));
}

TEST_F(OpaEngine, ClosesForABrokenFileInTheSameRequestAndHealsInTheNext) {
  must(engine_->judge(kDeploy));
  folder_.put("broken.rego", "package admission.broken\n\ndeny contains if {\n");
  auto closed = engine_->judge(kDeploy);
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, Code::policy_unavailable);
  EXPECT_EQ(closed.error().message.find("broken.rego:3"), 0u) << closed.error().message;
  EXPECT_EQ(engine_->status().fault->row, 3);
  folder_.rule("broken", "deny contains \"mended\"");
  EXPECT_TRUE(must(engine_->judge(kDeploy)).answer.contains("broken"));
  folder_.remove("broken.rego");
  EXPECT_TRUE(must(engine_->judge(kDeploy)).answer.empty());
}

TEST_F(OpaEngine, SeesAnEditOfTheSameSizeWithinTheSameTick) {
  for (int i = 0; i < 20; ++i) {
    auto text = std::string(1, static_cast<char>('a' + i));
    folder_.rule("r", "deny contains \"" + text + "\"");
    EXPECT_EQ(must(engine_->judge(kDeploy)).answer.at("r").deny.front(), text);
  }
}

TEST_F(OpaEngine, SeesSubfoldersAndAtomicReplacements) {
  folder_.put("team/deep.rego", "package admission.deep\ndeny contains \"one\"");
  EXPECT_TRUE(must(engine_->judge(kDeploy)).answer.contains("deep"));
  folder_.put("team/new.tmp", "package admission.deep\ndeny contains \"two\"");
  std::filesystem::rename(folder_.path() + "/team/new.tmp", folder_.path() + "/team/deep.rego");
  EXPECT_EQ(must(engine_->judge(kDeploy)).answer.at("deep").deny.front(), "two");
}

TEST_F(OpaEngine, ReadsAConfigMapsCurrentFolderOnly) {
  namespace fs = std::filesystem;
  folder_.put("..2026_1/r.rego", "package admission.r\ndeny contains \"old\"");
  folder_.put("..2026_2/r.rego", "package admission.r\ndeny contains \"new\"");
  fs::create_directory_symlink("..2026_1", folder_.path() + "/..data");
  fs::create_symlink("..data/r.rego", folder_.path() + "/r.rego");
  EXPECT_EQ(must(engine_->judge(kDeploy)).answer.at("r").deny, (std::vector<std::string>{"old"}));
  fs::create_directory_symlink("..2026_2", folder_.path() + "/..tmp");
  fs::rename(folder_.path() + "/..tmp", folder_.path() + "/..data");
  EXPECT_EQ(must(engine_->judge(kDeploy)).answer.at("r").deny, (std::vector<std::string>{"new"}));
}

TEST_F(OpaEngine, ClosesWithoutADirectory) {
  must(engine_->judge(kDeploy));
  folder_.remove("");
  EXPECT_NE(cause(engine_->judge(kDeploy)).find("cannot be read"), std::string::npos);
  std::filesystem::create_directory(folder_.path());
  EXPECT_TRUE(engine_->judge(kDeploy));
}

TEST_F(OpaEngine, ClosesForADanglingLink) {
  std::filesystem::create_symlink("nowhere.rego", folder_.path() + "/x.rego");
  EXPECT_NE(cause(engine_->judge(kDeploy)).find("x.rego cannot be read"), std::string::npos);
}

TEST_F(OpaEngine, ClosesForARuleThatIsNoFile) {
  must(engine_->judge(kDeploy));
  std::filesystem::create_directory(folder_.path() + "/x.rego");
  EXPECT_NE(cause(engine_->judge(kDeploy)).find("x.rego is no regular file"), std::string::npos);
  folder_.remove("x.rego");
  EXPECT_TRUE(engine_->judge(kDeploy));
  std::filesystem::create_symlink("/dev/null", folder_.path() + "/limits.json");
  EXPECT_NE(cause(engine_->judge(kDeploy)).find("limits.json is no regular file"), std::string::npos);
}

TEST_F(OpaEngine, ClosesForARuleThatTheEngineWouldPassBy) {
  for (std::string name : {"caps.REGO", "Caps.Rego", "limits.JSON"}) {
    must(engine_->judge(kDeploy));
    folder_.put(name, "package admission.caps\ndeny contains \"no\"");
    EXPECT_NE(cause(engine_->judge(kDeploy)).find(name + " is no rule to the engine"), std::string::npos);
    folder_.remove(name);
  }
}

TEST_F(OpaEngine, TakesAnEmptyDirectoryAsTheBuiltInsAloneAndSaysSo) {
  auto status = engine_->status();
  ASSERT_FALSE(status.fault) << status.fault->message;
  ASSERT_EQ(status.rules->rules.size(), 3u);
  for (const auto& rule : status.rules->rules) EXPECT_TRUE(rule.is_builtin && rule.evaluates) << rule.file;
  ASSERT_EQ(status.rules->problems.size(), 1u);
  EXPECT_EQ(status.rules->problems[0].code, "empty");
}

TEST_F(OpaEngine, ListsButNeverEvaluatesAFileWhoseNameDisagrees) {
  folder_.put("a.rego", "package admission.b\ndeny contains \"no\"");
  folder_.put("nested.rego", "package admission.team.nested\ndeny contains \"no\"");
  folder_.put("plain.rego", "package admission\ndeny contains \"no\"");
  folder_.put("typo.rego", "package admision.typo\ndeny contains \"no\"");
  folder_.put("library.rego", "package library.times\nfrozen(day) if day in {\"sat\"}");
  auto judged = must(engine_->judge(kDeploy));
  EXPECT_TRUE(judged.answer.empty());
  std::map<std::string, std::string> problems;
  for (const auto& p : judged.rules->problems) problems[p.file] = p.code;
  EXPECT_EQ(problems["a.rego"], "name_mismatch");
  EXPECT_EQ(problems["nested.rego"], "package_shape");
  EXPECT_EQ(problems["plain.rego"], "package_shape");
  EXPECT_EQ(problems["typo.rego"], "package_misspelt");
  EXPECT_FALSE(problems.contains("library.rego"));
}

TEST_F(OpaEngine, ClosesForASyntaxErrorEvenInAFileThatDoesNotEvaluate) {
  folder_.put("a.rego", "package admission.b\ndeny contains if");
  EXPECT_EQ(cause(engine_->judge(kDeploy)).find("a.rego:2"), 0u);
}

TEST_F(OpaEngine, NeverTakesATestFileForARule) {
  folder_.put("x_test.rego", "package admission.x_test\ndeny contains \"no\"\ntest_x if true");
  auto judged = must(engine_->judge(kDeploy));
  EXPECT_TRUE(judged.answer.empty());
  for (const auto& rule : judged.rules->rules) EXPECT_NE(rule.file, "x_test.rego");
}

TEST_F(OpaEngine, LetsAFileOfTheSameNameReplaceABuiltInRule) {
  folder_.rule("prod_window", "deny contains \"mine\"");
  auto judged = must(engine_->judge(kDeploy));
  EXPECT_EQ(judged.answer.at("prod_window").deny, (std::vector<std::string>{"mine"}));
  folder_.put("prod_window.rego", "package admission.elsewhere\ndeny contains \"mine\"");
  EXPECT_EQ(must(engine_->judge(kDeploy)).rules->rules.size(), 4u);  // the built-in one is back
}

TEST_F(OpaEngine, SharesHelpersAndDataFilesWithRules) {
  folder_.put("lib/days.rego", "package lib.days\nfrozen contains day if some day in data.frozen.days");
  folder_.put("frozen/days.json", R"({"days": ["fri"]})");
  folder_.rule("r", "import data.lib.days\n\ndeny contains \"frozen\" if input.now.weekday in days.frozen");
  EXPECT_TRUE(must(engine_->judge(kDeploy)).answer.contains("r"));
}

struct Shape {
  const char* name;
  const char* body;
};
class DenyShape : public testing::TestWithParam<Shape> {};

TEST_P(DenyShape, ClosesUnlessASetOfStrings) {
  PolicyFolder folder;
  folder.rule("odd", GetParam().body);
  auto engine = folder.engine();
  auto judged = engine->judge(kDeploy);
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().code, Code::policy_unavailable);
  EXPECT_NE(judged.error().message.find("odd.rego"), std::string::npos) << judged.error().message;
}

INSTANTIATE_TEST_SUITE_P(Policy, DenyShape,
                         testing::Values(Shape{"True", "deny := true"}, Shape{"String", "deny := \"no\""},
                                         Shape{"Array", "deny := [\"x\", \"y\"]"},
                                         Shape{"Object", "deny[\"k\"] := \"v\""},
                                         Shape{"Number", "deny contains 42"},
                                         Shape{"Function", "deny(x) := x"},
                                         Shape{"ObjectElement", "deny contains {\"msg\": \"m\"}"},
                                         Shape{"Undefined", "deny := \"x\" if input.nothing"},
                                         Shape{"DefaultFalse", "default deny := false"},
                                         Shape{"Approval", "needs_approval := true"}),
                         [](const auto& each) { return each.param.name; });

struct Breakage {
  const char* name;
  const char* file;
  const char* text;
};
class BrokenDirectory : public testing::TestWithParam<Breakage> {};

TEST_P(BrokenDirectory, ClosesAndNamesTheFile) {
  PolicyFolder folder;
  folder.rule("fine", "deny contains \"never said\"");
  folder.put(GetParam().file, GetParam().text);
  auto engine = folder.engine();
  auto judged = engine->judge(kDeploy);
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().code, Code::policy_unavailable);
  EXPECT_NE(judged.error().message.find(GetParam().file), std::string::npos) << judged.error().message;
  EXPECT_EQ(judged.error().message.find("/tmp"), std::string::npos) << judged.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Policy, BrokenDirectory,
    testing::Values(
        Breakage{"Syntax", "x.rego", "package admission.x\ndeny contains"}, Breakage{"Empty", "x.rego", ""},
        Breakage{"Hidden", ".x.rego", "package"},
        Breakage{"OldDialect", "x.rego", "package admission.x\ndeny[msg] { msg := \"m\" }"},
        Breakage{"UnknownFunction", "x.rego", "package admission.x\ndeny contains x if x := no_such(1)"},
        Breakage{"UnsafeVariable", "x.rego", "package admission.x\ndeny contains x if true"},
        Breakage{"Type", "x.rego", "package admission.x\ndeny contains \"a\" if count(1) > 0"},
        Breakage{"BrokenJson", "x.json", "{"}, Breakage{"JsonArray", "x.json", "[1]"},
        Breakage{"BrokenYaml", "x.yaml", "a: [b"},
        Breakage{"JsonRule", "x.json", R"({"admission": {"z": {"deny": ["a"]}}})"},
        Breakage{"JsonRuleWithoutReasons", "x.json", R"({"admission": {"z": {"needs_approval": null}}})"},
        Breakage{"EscapedJsonRule", "x.json", R"({"\u0061dmission": {"z": {"den\u0079": []}}})"},
        Breakage{"YamlRule", "x.yml", "admission:\n  z:\n    deny:\n      - a\n"},
        Breakage{"RuleByItsFolder", "admission/x.json", R"({"z": {"deny": ["a"]}})"},
        Breakage{"RuleByTwoFolders", "admission/z/x.json", R"({"deny": ["a"]})"},
        Breakage{"RuleByThreeFolders", "admission/z/deny/x.json", R"({"a": 1})"},
        Breakage{"Network", "x.rego",
                 "package admission.x\ndeny contains \"a\" if http.send({\"method\": \"get\", \"url\": "
                 "\"http://x\"}).status_code == 1"},
        Breakage{"Environment", "x.rego",
                 "package admission.x\ndeny contains \"a\" if opa.runtime().env.HOME"},
        Breakage{"LookUp", "x.rego", "package admission.x\ndeny contains \"a\" if net.lookup_ip_addr(\"x\")"},
        Breakage{"OurPackage", "x.rego", "package dashctl_gate\nanswer := {}"}),
    [](const auto& each) { return each.param.name; });

TEST_F(OpaEngine, ClosesForADataFileThatWouldBeTheOnlyRule) {
  folder_.put("z.json", R"({"admission": {"z": {"deny": ["a"]}}})");
  EXPECT_EQ(cause(engine_->judge(kDeploy)).find("z.json:1: a data file defines admission.z.deny"), 0u);
  folder_.put("z.json", R"({"admission": {"limits": {"hours": 3}}, "deny": ["a"]})");
  folder_.rule("r", "deny contains \"late\" if input.now.hour > data.admission.limits.hours");
  EXPECT_TRUE(must(engine_->judge(kDeploy)).answer.contains("r"));
}

TEST_F(OpaEngine, SeesEveryWayInWhichAFolderCanChange) {
  namespace fs = std::filesystem;
  auto says = [&]() -> std::string {
    auto judged = engine_->judge(kDeploy);
    if (!judged) return "closed";
    return judged->answer.contains("r") ? judged->answer.at("r").deny.front() : "nothing";
  };
  auto rule = [](std::string_view text) {
    return fmt::format("package admission.r\ndeny contains \"{}\"", text);
  };
  EXPECT_EQ(says(), "nothing");
  folder_.put("sub/deeper/r.rego", rule("in a new folder"));
  EXPECT_EQ(says(), "in a new folder");
  fs::rename(folder_.path() + "/sub", folder_.path() + "/other");
  EXPECT_EQ(says(), "in a new folder");
  folder_.remove("other/deeper/r.rego");
  EXPECT_EQ(says(), "nothing");
  // A link to nothing becomes a folder of rules without its own folder's stamp moving.
  fs::create_symlink("../late", folder_.path() + "/link");
  EXPECT_EQ(says(), "nothing");
  folder_.put("../late/r.rego", rule("behind a link"));
  EXPECT_EQ(says(), "behind a link");
  // The whole directory is another.
  fs::rename(folder_.path(), folder_.path() + ".old");
  EXPECT_EQ(says(), "closed");
  fs::create_directory_symlink(folder_.path() + ".old", folder_.path());
  EXPECT_EQ(says(), "behind a link");
  fs::remove(folder_.path() + ".old/link");
  EXPECT_EQ(says(), "nothing");
  folder_.put("r.rego", rule("through a linked directory"));
  EXPECT_EQ(says(), "through a linked directory");
}

TEST_F(OpaEngine, KeepsTheEngineForAFileThatIsNoneOfItsOwn) {
  folder_.rule("r", "deny contains \"x\"");
  auto before = must(engine_->judge(kDeploy)).rules;
  folder_.put("README.md", "words");
  folder_.put("r.rego.bak", "package");
  EXPECT_EQ(must(engine_->judge(kDeploy)).rules, before);
}

TEST_F(OpaEngine, ClosesForADataFileThatOverlapsARule) {
  folder_.rule("r", "deny contains \"x\"");
  folder_.put("admission/r/data.json", R"({"deny": []})");
  EXPECT_FALSE(engine_->judge(kDeploy));
}

TEST_F(OpaEngine, ClosesForABuiltInThatFailsWhileItRuns) {
  folder_.rule("r", "deny contains \"x\" if to_number(input.request.name) > 3");
  auto judged = engine_->judge(kDeploy);
  ASSERT_FALSE(judged);
  EXPECT_EQ(judged.error().message.find("r.rego:3: to_number"), 0u) << judged.error().message;
}

TEST_F(OpaEngine, ClosesForConflictingValues) {
  folder_.rule("r", "a := 1 if input.action\na := 2 if input.action\ndeny contains \"x\" if a == 1");
  EXPECT_FALSE(engine_->judge(kDeploy));
}

TEST_F(OpaEngine, ClosesForARuleThatTakesTooLong) {
  folder_.rule("slow",
               "deny contains \"x\" if {\n  some a in numbers.range(1, 30000)\n  some b in numbers.range(1, "
               "30000)\n  a * b == -1\n}");
  EngineOptions options;
  options.directory = folder_.path();
  options.binary = real_engine();
  options.deadline = std::chrono::milliseconds(150);
  auto engine = make_opa(options);
  EXPECT_NE(cause(engine->judge(kDeploy)).find("in time"), std::string::npos);
  folder_.remove("slow.rego");
  EXPECT_TRUE(engine->judge(kDeploy));
}

TEST_F(OpaEngine, ClosesWithoutABinaryAndHealsWhenItComes) {
  auto place = folder_.path() + "/../opa";
  auto engine = folder_.engine(place);
  EXPECT_NE(cause(engine->judge(kDeploy)).find("POLICY_BINARY"), std::string::npos);
  std::filesystem::copy_file(real_engine(), place);
  EXPECT_TRUE(engine->judge(kDeploy));
}

TEST_F(OpaEngine, ClosesForAFileThatIsNoProgram) {
  folder_.put("engine.txt", "not a program");
  EXPECT_FALSE(folder_.engine(folder_.path() + "/engine.txt")->judge(kDeploy));
  std::filesystem::permissions(folder_.path() + "/engine.txt", std::filesystem::perms::all);
  EXPECT_FALSE(folder_.engine(folder_.path() + "/engine.txt")->judge(kDeploy));
}

// Process ids of our children whose command line says `opa run`.
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
  must(engine_->judge(kDeploy));
  for (int i = 0; i < 3; ++i) {
    auto running = engines();
    ASSERT_EQ(running.size(), 1u);
    ::kill(running[0], SIGKILL);
    EXPECT_TRUE(must(engine_->judge(kDeploy)).answer.contains("r"));
  }
}

TEST_F(OpaEngine, KeepsOneEngineAndEndsTheOldOne) {
  for (int i = 0; i < 5; ++i) {
    folder_.rule("r", fmt::format("deny contains \"{}\"", i));
    must(engine_->judge(kDeploy));
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
        auto judged = engine_->judge(kDeploy);
        if (!judged || !judged->answer.contains("r")) ++bad;
      }
    });
  for (int i = 0; i < 5; ++i) {
    folder_.put("new.tmp", fmt::format("package admission.other\ndeny contains \"{}\"", i));
    std::filesystem::rename(folder_.path() + "/new.tmp", folder_.path() + "/other.rego");
    must(engine_->judge(kDeploy));
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(bad, 0);
}

std::string status_field(int pid, const std::string& name) {
  std::ifstream file(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name + ":")) return line.substr(name.size() + 2);
  return "";
}

TEST_F(OpaEngine, RunsWithoutEnvironmentPrivilegesOrTheRightsOfRoot) {
  must(engine_->judge(kDeploy));
  auto running = engines();
  ASSERT_EQ(running.size(), 1u);
  std::ifstream environment(fmt::format("/proc/{}/environ", running[0]));
  EXPECT_EQ(std::string((std::istreambuf_iterator<char>(environment)), {}), "");
  EXPECT_EQ(status_field(running[0], "NoNewPrivs"), "1");
  auto uid = status_field(running[0], "Uid");
  EXPECT_EQ(::geteuid() == 0, uid.starts_with("65534\t")) << uid;
}

TEST_F(OpaEngine, AnswersABatchOfOneGeneration) {
  folder_.rule("r", "deny contains input.action");
  std::vector<std::string> documents{R"({"action":"a"})", R"({"action":"b"})", kDeploy};
  auto judged = must(engine_->judge_all(documents));
  ASSERT_EQ(judged.size(), 3u);
  EXPECT_EQ(judged[1].answer.at("r").deny.front(), "b");
  EXPECT_EQ(judged[2].answer.at("r").deny.front(), "cloud1:vm:deploy");
}

}  // namespace
}  // namespace dash::policy
