#include <gtest/gtest.h>

#include "cmd/cli/groups.hpp"
#include "cmd/cli/help.hpp"
#include "tests/support/must.hpp"

namespace dash::cmd {
namespace {

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
