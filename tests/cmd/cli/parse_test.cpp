#include "cmd/cli/parse.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <set>

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
    flags.number("--my-days", days, "N", "days").at_least(1);
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

// Flags that allow a write or lower a guard.
const std::set<std::string> kGuards = {
    "--apply",  "--insecure", "--include-on-prem", "--overwrite", "--allow-empty-values", "--accept-drift",
    "--reveal", "--help"};

// Of serve alone: a unit file sets what a service takes.
const std::set<std::string> kServeVariables = {"--listen",        "--workers",  "--public-url",
                                               "--trusted-proxy", "--tls-cert", "--tls-key"};

bool is_worth_inheriting(const Group& group, const Flag& flag) {
  if (flag.is_guard) return false;
  if (flag.group == FlagGroup::own) return group.name == "serve" && kServeVariables.contains(flag.name);
  return flag.group != FlagGroup::container;
}

TEST(CommandTree, OnlyFlagsWorthInheritingHaveAVariable) {
  for (const auto& group : root()) {
    for (const auto& action : group.actions) {
      Flags flags;
      (void)action.declare(flags);
      for (const auto& flag : flags.all()) {
        if (flag.is_positional()) continue;
        EXPECT_EQ(!flag.environment().empty(), is_worth_inheriting(group, flag))
            << group.name << " " << action.name << " " << flag.name;
        if (kGuards.contains(flag.name)) {
          EXPECT_TRUE(flag.is_guard) << flag.name;
        }
        EXPECT_FALSE(flag.help.empty()) << flag.name;
      }
    }
  }
}

TEST(CommandTree, NoFlagTakesASecretButToken) {
  for (const auto& group : root()) {
    for (const auto& action : group.actions) {
      Flags flags;
      (void)action.declare(flags);
      for (const auto& flag : flags.all()) {
        EXPECT_NE(flag.name, "--password") << group.name;
        EXPECT_NE(flag.name, "--secret") << group.name;
        EXPECT_NE(flag.name, "--passphrase") << group.name;
      }
    }
  }
}

TEST(Help, ListsEveryCommandAndEveryExitCode) {
  auto help = root_help(root());
  for (const auto& group : root())
    if (!group.is_hidden) {
      EXPECT_NE(help.find("  " + group.name + " "), std::string::npos) << group.name;
    }
  for (int code : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 130})
    EXPECT_NE(help.find(fmt::format("{:4}  ", code)), std::string::npos) << code;
}

TEST(Completion, KnowsThreeShells) {
  for (auto shell : {"bash", "zsh", "fish"})
    EXPECT_NE(must(completion_script(root(), shell)).find("migrate"), std::string::npos);
  EXPECT_EQ(completion_script(root(), "tcsh").error().code, Code::usage);
}

TEST(Completion, OffersTheWordsOfAnArgument) {
  EXPECT_NE(must(completion_script(root(), "bash")).find("\"completion \"*) words=\"bash zsh fish "),
            std::string::npos);
  EXPECT_NE(must(completion_script(root(), "fish")).find("from completion' -a 'bash zsh fish'"),
            std::string::npos);
}

}  // namespace
}  // namespace dash::cmd
