// What the engine makes of a directory that changes or is broken.
#include "tests/support/opa_engine.hpp"

namespace dash::policy {
namespace {

TEST_F(OpaEngine, ClosesForABrokenFileInTheSameRequestAndHealsInTheNext) {
  must(engine_->evaluate(kDeploy));
  folder_.put("broken.rego", "package admission.broken\n\ndeny contains if {\n");
  auto closed = engine_->evaluate(kDeploy);
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, Code::policy_unavailable);
  EXPECT_EQ(closed.error().message.find("broken.rego:3"), 0u) << closed.error().message;
  EXPECT_EQ(engine_->status().fault->row, 3);
  folder_.rule("broken", "deny contains \"mended\"");
  EXPECT_TRUE(must(engine_->evaluate(kDeploy)).outcomes.contains("broken"));
  folder_.remove("broken.rego");
  EXPECT_TRUE(must(engine_->evaluate(kDeploy)).outcomes.empty());
}

TEST_F(OpaEngine, SeesAnEditOfTheSameSizeWithinTheSameTick) {
  for (int i = 0; i < 20; ++i) {
    auto text = std::string(1, static_cast<char>('a' + i));
    folder_.rule("r", "deny contains \"" + text + "\"");
    EXPECT_EQ(must(engine_->evaluate(kDeploy)).outcomes.at("r").deny.front(), text);
  }
}

TEST_F(OpaEngine, SeesSubfoldersAndAtomicReplacements) {
  folder_.put("team/deep.rego", "package admission.deep\ndeny contains \"one\"");
  EXPECT_TRUE(must(engine_->evaluate(kDeploy)).outcomes.contains("deep"));
  folder_.put("team/new.tmp", "package admission.deep\ndeny contains \"two\"");
  std::filesystem::rename(folder_.path() + "/team/new.tmp", folder_.path() + "/team/deep.rego");
  EXPECT_EQ(must(engine_->evaluate(kDeploy)).outcomes.at("deep").deny.front(), "two");
}

TEST_F(OpaEngine, ReadsAConfigMapsCurrentFolderOnly) {
  namespace fs = std::filesystem;
  folder_.put("..2026_1/r.rego", "package admission.r\ndeny contains \"old\"");
  folder_.put("..2026_2/r.rego", "package admission.r\ndeny contains \"new\"");
  fs::create_directory_symlink("..2026_1", folder_.path() + "/..data");
  fs::create_symlink("..data/r.rego", folder_.path() + "/r.rego");
  EXPECT_EQ(must(engine_->evaluate(kDeploy)).outcomes.at("r").deny, (std::vector<std::string>{"old"}));
  fs::create_directory_symlink("..2026_2", folder_.path() + "/..tmp");
  fs::rename(folder_.path() + "/..tmp", folder_.path() + "/..data");
  EXPECT_EQ(must(engine_->evaluate(kDeploy)).outcomes.at("r").deny, (std::vector<std::string>{"new"}));
}

TEST_F(OpaEngine, ClosesWithoutADirectory) {
  must(engine_->evaluate(kDeploy));
  folder_.remove("");
  EXPECT_NE(cause(engine_->evaluate(kDeploy)).find("cannot be read"), std::string::npos);
  std::filesystem::create_directory(folder_.path());
  EXPECT_TRUE(engine_->evaluate(kDeploy));
}

TEST_F(OpaEngine, ClosesForADanglingLink) {
  std::filesystem::create_symlink("nowhere.rego", folder_.path() + "/x.rego");
  EXPECT_NE(cause(engine_->evaluate(kDeploy)).find("x.rego cannot be read"), std::string::npos);
}

TEST_F(OpaEngine, ClosesForARuleThatIsNoFile) {
  must(engine_->evaluate(kDeploy));
  std::filesystem::create_directory(folder_.path() + "/x.rego");
  EXPECT_NE(cause(engine_->evaluate(kDeploy)).find("x.rego is not a regular file"), std::string::npos);
  folder_.remove("x.rego");
  EXPECT_TRUE(engine_->evaluate(kDeploy));
  std::filesystem::create_symlink("/dev/null", folder_.path() + "/limits.json");
  EXPECT_NE(cause(engine_->evaluate(kDeploy)).find("limits.json is not a regular file"), std::string::npos);
}

TEST_F(OpaEngine, ClosesForARuleThatTheEngineWouldPassBy) {
  for (std::string name : {"caps.REGO", "Caps.Rego", "limits.JSON"}) {
    must(engine_->evaluate(kDeploy));
    folder_.put(name, "package admission.caps\ndeny contains \"no\"");
    EXPECT_NE(cause(engine_->evaluate(kDeploy)).find(name + " is not a rule to the engine"),
              std::string::npos);
    folder_.remove(name);
  }
}

TEST_F(OpaEngine, TakesAnEmptyDirectoryAsTheBuiltInsAloneAndSaysSo) {
  auto status = engine_->refresh();
  ASSERT_FALSE(status.fault) << status.fault->message;
  ASSERT_EQ(status.rules->rules.size(), 3u);
  for (const auto& rule : status.rules->rules) EXPECT_TRUE(rule.is_builtin && rule.evaluates) << rule.file;
  ASSERT_EQ(status.rules->problems.size(), 1u);
  EXPECT_EQ(status.rules->problems[0].code, "empty");
}

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
  auto judged = engine->evaluate(kDeploy);
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

TEST_F(OpaEngine, SeesEveryWayInWhichAFolderCanChange) {
  namespace fs = std::filesystem;
  auto says = [&]() -> std::string {
    auto judged = engine_->evaluate(kDeploy);
    if (!judged) return "closed";
    return judged->outcomes.contains("r") ? judged->outcomes.at("r").deny.front() : "nothing";
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
  auto before = must(engine_->evaluate(kDeploy)).rules;
  folder_.put("README.md", "words");
  folder_.put("r.rego.bak", "package");
  EXPECT_EQ(must(engine_->evaluate(kDeploy)).rules, before);
}

}  // namespace
}  // namespace dash::policy
