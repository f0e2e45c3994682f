#include "core/migrate/vault_check.hpp"

#include <gtest/gtest.h>

#include "tests/migrate/migration.hpp"

namespace dash::migrate {
namespace {

TEST(VaultReferences, AreWarnedAboutSoftlyWhereTheTargetCannotTell) {
  FakeDashboard peer;
  peer.is_peer = true;
  peer.config = {{"aws_vpc_id", "x"}};
  auto text = R"({"config":{"epml_pat":"azure_kv://prod/pat","other":"bt_safe://alone"}})";
  auto soft = Migration(peer).diff(text).warnings;
  ASSERT_EQ(soft.size(), 1u);
  EXPECT_NE(soft[0].find("may name the vault 'prod'"), std::string::npos);
  FakeDashboard ours;
  auto firm = Migration(ours).diff(text).warnings;
  ASSERT_EQ(firm.size(), 1u);
  EXPECT_NE(firm[0].find("is not registered"), std::string::npos);
  EXPECT_NE(firm[0].find("epml_pat"), std::string::npos);
}

}  // namespace
}  // namespace dash::migrate
