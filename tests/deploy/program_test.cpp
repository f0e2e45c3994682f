#include "core/deploy/program.hpp"

#include <gtest/gtest.h>

namespace dash::deploy {
namespace {

TEST(HideSecrets, ReplacesEachOfThemAndEachOfTheirLines) {
  std::vector<std::string> secrets{"hunter22", "-----BEGIN\nabcdefgh\n-----END", "short"};
  EXPECT_EQ(hide_secrets("x hunter22 y hunter22", secrets), "x *** y ***");
  EXPECT_EQ(hide_secrets("key abcdefgh", secrets), "key ***");
  EXPECT_EQ(hide_secrets("short", secrets), "short");
}

}  // namespace
}  // namespace dash::deploy
