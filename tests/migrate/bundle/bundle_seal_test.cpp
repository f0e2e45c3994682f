#include "core/migrate/bundle/bundle_seal.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::migrate {
namespace {

TEST(SealedBundle, OpensWithItsPassphraseOnly) {
  auto sealed = must(seal_bundle(R"({"config":{"a":"secret"}})", Secret("pass")));
  EXPECT_EQ(sealed.find("secret"), std::string::npos);
  EXPECT_TRUE(is_sealed_bundle(sealed));
  EXPECT_FALSE(is_sealed_bundle(R"({"schema": 1})"));
  EXPECT_EQ(must(open_sealed_bundle(sealed, Secret("pass"), "b")), R"({"config":{"a":"secret"}})");
  EXPECT_EQ(open_sealed_bundle(sealed, Secret("Pass"), "b").error().code, Code::integrity);
  sealed[sealed.rfind("\"data\"") + 30] ^= 1;
  EXPECT_FALSE(open_sealed_bundle(sealed, Secret("pass"), "b"));
}

}  // namespace
}  // namespace dash::migrate
