#include "core/storage/iac_state.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/storage/agent/store.hpp"
#include "tests/support/storage_instance.hpp"

namespace dash::storage {
namespace {

class IacStateTest : public ::testing::Test {
 protected:
  IacStateTest() {
    world.set("storage_obj_cloud3_bucket", "c");
    world.set("storage_local_path", "/assets");
  }
  Result<ConfigUpdate> patch(std::string_view body) {
    return one.storage.config().change(world.admin, must(parse_json(body)));
  }
  std::string active() { return must(one.storage.config().show(world.admin))["storage_active_backend"]; }
  MemoryStore& target() { return *world.stores.at("obj_cloud3"); }
  MemoryStore& folder() { return *world.stores.at("local"); }
  StorageWorld world;
  Replica one{world};
};

constexpr auto kSwitch = R"({"storage_active_backend":"gcs"})";
constexpr auto kSwitchConfirmed = R"({"storage_active_backend":"gcs","migrate_iac_state":true})";

}  // namespace

TEST_F(IacStateTest, LetsASwitchPassWhenThereIsNoState) {
  must(world.store().put("config-mgmt/site.yml", "x", {}));
  EXPECT_EQ(must(patch(kSwitch)).iac_state_migrated, 0);
  EXPECT_EQ(active(), "obj_cloud3");
}

TEST_F(IacStateTest, BlocksASwitchUntilItIsConfirmed) {
  must(world.store().put("iac-state/j1/terraform.tfstate", "{}", {}));
  auto refused = patch(kSwitch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_NE(refused.error().message.find("migrate_iac_state=true"), std::string::npos);
  EXPECT_NE(refused.error().message.find("migrate_terraform_state=true"), std::string::npos);
  EXPECT_EQ(active(), "obj_cloud1");
}

TEST_F(IacStateTest, CopiesEveryObjectButLocksAndRenamesTheLeaf) {
  must(world.store().put("iac-state/j1/terraform.tfstate", "one", {}));
  must(world.store().put("iac-state/j1/terraform.tfstate.tflock", "lock", {}));
  must(world.store().put("iac-state/j2/terraform.tfstate", "two", {}));
  must(world.store().put("iac-state/j2/outputs.json", "out", {}));
  must(world.store().put("terraform-state/old/terraform.tfstate", "peer", {}));
  must(world.store().put("iac-statement/x.yml", "not", {}));
  EXPECT_EQ(must(patch(kSwitchConfirmed)).iac_state_migrated, 4);
  EXPECT_EQ(active(), "obj_cloud3");
  EXPECT_EQ(target().bytes_of("iac-state/j1/default.tfstate"), "one");
  EXPECT_EQ(target().bytes_of("iac-state/j2/outputs.json"), "out");
  EXPECT_EQ(target().bytes_of("terraform-state/old/default.tfstate"), "peer");
  EXPECT_FALSE(target().has("iac-state/j1/terraform.tfstate.tflock"));
  EXPECT_FALSE(target().has("iac-statement/x.yml"));
  EXPECT_TRUE(world.store().has("iac-state/j1/terraform.tfstate")) << "the originals stay";
}

TEST_F(IacStateTest, TakesThePeersNameOfTheFlag) {
  must(world.store().put("iac-state/j1/terraform.tfstate", "one", {}));
  auto body = R"({"storage_active_backend":"gcs","migrate_terraform_state":true})";
  EXPECT_EQ(must(patch(body)).iac_state_migrated, 1);
}

TEST_F(IacStateTest, StaysWhereItIsWhenTheCopyFails) {
  must(world.store().put("iac-state/j1/terraform.tfstate", std::string(kPartBytes + 1, 's'), {}));
  target().fail_next_part = true;
  auto failed = patch(kSwitchConfirmed);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::upstream);
  EXPECT_EQ(active(), "obj_cloud1");
}

TEST_F(IacStateTest, GuardsEveryWayToTurnAway) {
  must(world.store().put("iac-state/j1/terraform.tfstate", "one", {}));
  for (auto body : {R"({"storage_active_backend":"local"})", R"({"storage_obj_cloud1_bucket":""})"}) {
    auto refused = patch(body);
    ASSERT_FALSE(refused) << body;
    EXPECT_EQ(refused.error().code, Code::conflict) << body;
  }
  must(patch(R"({"storage_active_backend":"s3","storage_hub_backend":"gcs"})"));
}

TEST_F(IacStateTest, KeepsTheStateOfFileSystemsInTheDeployFolder) {
  must(patch(R"({"storage_active_backend":"local"})"));
  std::filesystem::create_directory(world.scratch / "deploy");
  must(folder().put("j1/terraform.tfstate", "one", {}));
  must(folder().put("cloud1-vm-deploy", "#!/bin/sh", {}));
  EXPECT_FALSE(patch(kSwitch));
  EXPECT_EQ(must(patch(kSwitchConfirmed)).iac_state_migrated, 1);
  EXPECT_EQ(target().bytes_of("iac-state/j1/default.tfstate"), "one");
  EXPECT_FALSE(target().has("iac-state/cloud1-vm-deploy"));
}

TEST_F(IacStateTest, MindsAStoreThatCannotBeAskedOnlyWhenDeploysAreKnown) {
  config::Values values{{"storage_obj_cloud1_bucket", "b"}};
  PartPool parts{1};
  auto deaf = [](const Backend&, const config::Values&) -> Result<std::shared_ptr<ObjectStore>> {
    return std::shared_ptr<ObjectStore>(must(agent::open_agent_share({})));
  };
  IacState state(deaf, {*world.sql, parts, world.scratch / "deploy"});
  Seat seat{must(find_backend("s3")), &values};
  EXPECT_EQ(must(state.holds(seat)), false);
  must(world.sql->write([](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(
        "INSERT INTO jobs (id, seq, action, receipt, name, region, request, parameters, state, message, "
        "created_at, created_by, created_by_admin, needs_policy_approval, needs_booking_approval, "
        "approval_reasons, approval_digest, attempts, cancel_requested) VALUES ('j', 1, 'cloud1:vm:deploy', "
        "'r', 'n', "
        "'x', '{}', $1, 'completed', '', 1, 'a', 0, 0, 0, '[]', '', 1, 0)",
        {std::string("{}")}));
    return {};
  }));
  auto unknown = state.holds(seat);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::upstream);
}

}  // namespace dash::storage
