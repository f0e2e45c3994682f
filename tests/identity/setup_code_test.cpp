#include "core/identity/setup_code.hpp"

#include <gtest/gtest.h>

#include "tests/support/identity_fixture.hpp"

namespace dash::identity {
namespace {

TEST_F(Identity, SetupCodeIsMadeOnceKeptPrivateAndAsked) {
  SetupCode code(scratch_.path());
  auto text = code.ensure().value();
  EXPECT_EQ(SetupCode(scratch_.path()).ensure().value().expose(), text.expose());
  auto perms = std::filesystem::status(code.path()).permissions();
  EXPECT_EQ(perms, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_TRUE(code.check(text));
  EXPECT_FALSE(code.check(Secret("guess")));
  code.remove();
  EXPECT_FALSE(code.check(text));
  EXPECT_FALSE(code.check(Secret("")));
}

}  // namespace
}  // namespace dash::identity
