#include "cmd/cli/parse.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "cmd/cli/groups.hpp"
#include "cmd/cli/help.hpp"
#include "tests/support/must.hpp"

namespace dash::cmd {
namespace {

// An environment variable for the length of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

struct Parsed {
  std::string url, dir, file, how = "merge";
  bool apply = false, quiet = false;
  std::int64_t days = 1;
  std::vector<std::string> only;
  Flags flags;
  Parsed() {
    flags.argument("FILE", file, "a file");
    flags.text("--my-url", url, "URL", "an address").excludes("--my-dir").from_environment();
    flags.text("--my-dir", dir, "DIR", "a folder");
    flags.text("--my-how", how, "HOW", "how").one_of({"merge", "replace"});
    flags.toggle("--my-apply", apply, "write").guard().from_environment();
    flags.toggle("--my-quiet", quiet, "be quiet").from_environment();
    flags.list("--my-only", only, "PREFIX", "prefixes").from_environment();
    flags.number("--my-days", days, "N", "days").at_least(1).at_most(30);
  }
  std::string error(const std::vector<std::string>& words) {
    auto result = parse_flags(flags, words);
    if (!result) {
      EXPECT_EQ(result.error().code, Code::usage);
    }
    return result ? "" : result.error().message;
  }
};

TEST(Flags, AreReadFromWords) {
  Parsed p;
  EXPECT_EQ(p.error({"f.json", "--my-url", "http://x", "--my-only", "a", "--my-only=b", "--my-apply"}), "");
  EXPECT_EQ(p.file, "f.json");
  EXPECT_EQ(p.url, "http://x");
  EXPECT_EQ(p.only, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(p.apply);
}

TEST(Flags, ARepeatableOneTakesOneWordAtATime) {
  Parsed p;
  EXPECT_EQ(p.error({"--my-only", "a", "f.json"}), "");
  EXPECT_EQ(p.only, std::vector<std::string>{"a"});
  EXPECT_EQ(p.file, "f.json");
}

TEST(Flags, ADashIsAValue) {
  Parsed p;
  EXPECT_EQ(p.error({"-", "--my-url", "-"}), "");
  EXPECT_EQ(p.file, "-");
  EXPECT_EQ(p.url, "-");
}

TEST(Flags, ComeFromTheEnvironmentUnlessGiven) {
  Variable url("DASHCTL_MY_URL", "http://env");
  Variable only("DASHCTL_MY_ONLY", "a, b");
  Variable quiet("DASHCTL_MY_QUIET", "true");
  Parsed p;
  EXPECT_EQ(p.error({"--my-only", "c"}), "");
  EXPECT_EQ(p.url, "http://env");
  EXPECT_EQ(p.only, std::vector<std::string>{"c"});
  EXPECT_TRUE(p.quiet);
  Parsed q;
  EXPECT_EQ(q.error({}), "");
  EXPECT_EQ(q.only, (std::vector<std::string>{"a", "b"}));
}

TEST(Flags, AnActionsOwnFlagHasNoVariable) {
  Variable days("DASHCTL_MY_DAYS", "9");
  Parsed p;
  EXPECT_EQ(p.error({}), "");
  EXPECT_EQ(p.days, 1);
}

TEST(Flags, AGuardIsNeverLoweredByTheEnvironment) {
  Variable apply("DASHCTL_MY_APPLY", "1");
  Parsed p;
  EXPECT_EQ(p.error({}), "");
  EXPECT_FALSE(p.apply);
}

TEST(Flags, OneThatIsGivenSilencesTheOtherOnesVariable) {
  Variable url("DASHCTL_MY_URL", "http://env");
  Parsed p;
  EXPECT_EQ(p.error({"--my-dir", "d"}), "");
  EXPECT_EQ(p.url, "");
  EXPECT_NE(p.error({"--my-dir", "d", "--my-url", "u"}).find("exclude each other"), std::string::npos);
}

TEST(Flags, RefuseNonsenseWithAdvice) {
  Parsed p;
  EXPECT_EQ(p.error({"--my-urk", "x"}), "unknown flag '--my-urk'; did you mean `--my-url`?");
  EXPECT_EQ(p.error({"--my-how", "destroy"}), "--my-how takes merge or replace, not 'destroy'");
  EXPECT_EQ(p.error({"a", "b"}), "unexpected argument 'b'");
}

TEST(Flags, AnEmptyValueIsNotTheSameAsNone) {
  Parsed p;
  EXPECT_EQ(p.error({"--my-url", ""}), "--my-url has an empty value");
  EXPECT_EQ(p.error({"--my-only", ""}), "--my-only has an empty value");
  EXPECT_EQ(p.error({"--my-url=", "--my-apply"}), "--my-url has an empty value");
  EXPECT_EQ(p.error({""}), "");
}

TEST(Flags, EndAtTwoDashes) {
  Parsed p;
  EXPECT_EQ(p.error({"--my-apply", "--", "--my-url="}), "");
  EXPECT_EQ(p.file, "--my-url=");
  EXPECT_EQ(p.error({"-x"}), "unknown flag '-x' (a value that starts with - goes behind --)");
}

TEST(Flags, ANumberHasItsLeast) {
  Parsed p;
  EXPECT_EQ(p.error({"--my-days", "0"}), "--my-days takes at least 1, not 0");
  EXPECT_EQ(p.error({"--my-days=-3"}), "--my-days takes at least 1, not -3");
  EXPECT_EQ(p.error({"--my-days", "1"}), "");
}

TEST(CommandTree, FindsGroupAndActionBehindFrameFlags) {
  auto groups = root();
  auto found = must(find_action(groups, {"--output", "json", "migrate", "diff", "--bundle", "b"}));
  EXPECT_EQ(found.action->name, "diff");
  EXPECT_EQ(found.arguments, (std::vector<std::string>{"--output", "json", "--bundle", "b"}));
  EXPECT_EQ(find_action(groups, {"migrat"}).error().message,
            "unknown command 'migrat'; did you mean `migrate`? (`dashctl --help` lists them)");
}

}  // namespace
}  // namespace dash::cmd
