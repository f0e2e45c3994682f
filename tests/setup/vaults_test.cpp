#include "core/setup/vaults.hpp"

#include <gtest/gtest.h>

#include "core/config/vault_reference.hpp"
#include "tests/support/instance.hpp"

namespace dash::setup {
namespace {

TEST(Vaults, AreListedRegisteredAndRemoved) {
  TestInstance i;
  i.add_user("root", true);
  auto root = i.as("root");
  must(i.vaults.add(root, "primary", "azure_kv"));
  EXPECT_EQ(i.vaults.add(root, "primary", "azure_kv").error().code, Code::conflict);
  EXPECT_EQ(i.vaults.add(root, "a/b", "azure_kv").error().code, Code::invalid);
  EXPECT_EQ(i.vaults.add(root, "x", "nope").error().code, Code::invalid);
  EXPECT_EQ(must(i.vaults.list(root)).size(), 1u);
  must(i.vaults.remove(root, "primary", ""));
  EXPECT_EQ(i.vaults.remove(root, "primary", "").error().code, Code::not_found);
  EXPECT_EQ(config::vault_id_of("azure_kv://primary/epml-pat"), "primary");
  EXPECT_EQ(config::vault_id_of("azure_kv://epml-pat"), "");
  EXPECT_EQ(config::vault_id_of("https://primary/epml-pat"), "");
}

}  // namespace
}  // namespace dash::setup
