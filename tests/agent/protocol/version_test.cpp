#include "core/agent/protocol/version.hpp"

#include <gtest/gtest.h>

#include "tests/agent/protocol/vectors.hpp"

namespace dash::agent {
namespace {

TEST(ProtocolVersion, ComparesAsTheVectorsSay) {
  for (const auto& vector : vectors()["version_gate"]) {
    auto version = vector["version"].is_string() ? vector["version"].get<std::string>() : "";
    EXPECT_EQ(is_version_at_least(version, {2, 3}), vector["at_least_2_3"].get<bool>()) << vector["name"];
  }
  EXPECT_TRUE(is_version_at_least("2.10.0", kShareSecretVersion));
  EXPECT_FALSE(is_version_at_least("2.6.9", kShareSecretVersion));
  EXPECT_FALSE(is_version_at_least("99999999999.1", kStorageVersion)) << "no number that can be read";
}

}  // namespace
}  // namespace dash::agent
