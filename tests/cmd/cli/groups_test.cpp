#include "cmd/cli/groups.hpp"

#include <gtest/gtest.h>

#include <set>

#include "cmd/cli/help.hpp"
#include "cmd/cli/parse.hpp"
#include "tests/support/must.hpp"

namespace dash::cmd {
namespace {

// Flags that allow a write or lower a guard.
const std::set<std::string> kGuards = {
    "--apply",  "--insecure", "--include-on-prem", "--overwrite", "--allow-empty-values", "--accept-drift",
    "--reveal", "--help"};

// Of serve alone: a unit file sets what a service takes.
const std::set<std::string> kServeVariables = {"--listen",   "--workers", "--public-url",   "--trusted-proxy",
                                               "--tls-cert", "--tls-key", "--otlp-endpoint"};

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

}  // namespace
}  // namespace dash::cmd
