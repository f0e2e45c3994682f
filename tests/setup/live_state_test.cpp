#include "core/setup/live_state.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "tests/support/accounts.hpp"
#include "tests/support/storage_instance.hpp"

namespace dash::setup {
namespace {

class LiveStateTest : public ::testing::Test {
 protected:
  LiveStateTest() {
    world.set("storage_obj_cloud3_bucket", "c");
    world.set("storage_local_path", "/assets");
  }
  Result<StorageUpdateResult> patch(std::string_view body) {
    return one.config_service.change_storage(world.admin, must(parse_json(body)));
  }
  std::string active() { return must(one.storage.config().show(world.admin))["storage_active_backend"]; }
  storage::MemoryStore& target() { return *world.stores.at("obj_cloud3"); }
  storage::MemoryStore& folder() { return *world.stores.at("local"); }
  // The store answers nothing from here on.
  void deafen(const std::string& backend) { world.unreachable.insert(backend); }
  void add_job(const std::string& id, const std::string& state) {
    must(world.sql->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec(
          R"(INSERT INTO jobs
               (id, seq, action, receipt, name, region, request, parameters, state, message,
                created_at, created_by, created_by_admin, needs_policy_approval, needs_booking_approval,
                approval_reasons, approval_digest, attempts, cancel_requested)
             VALUES ($1, (SELECT count(*) + 1 FROM jobs), 'cloud1:vm:deploy', 'r', 'n', 'x', '{}', $2, $3, '',
               1, 'a', 0, 0, 0,
               '[]', '', 1, 0))",
          {id, std::string("{}"), state}));
      return {};
    }));
  }
  storage::StorageFixture world;
  storage::Replica one{world};
};

constexpr auto kSwitch = R"({"storage_active_backend":"gcs"})";
constexpr auto kSwitchConfirmed = R"({"storage_active_backend":"gcs","migrate_iac_state":true})";

}  // namespace

TEST_F(LiveStateTest, LetsASwitchPassWhenThereIsNoState) {
  must(world.store().put("config-mgmt/site.yml", "x", {}));
  EXPECT_EQ(must(patch(kSwitch)).iac_state_migrated, 0);
  EXPECT_EQ(active(), "obj_cloud3");
}

TEST_F(LiveStateTest, BlocksASwitchUntilItIsConfirmed) {
  must(world.store().put("iac-state/j1/terraform.tfstate", "{}", {}));
  auto refused = patch(kSwitch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_NE(refused.error().message.find("migrate_iac_state=true"), std::string::npos);
  EXPECT_NE(refused.error().message.find("migrate_terraform_state=true"), std::string::npos);
  EXPECT_EQ(active(), "obj_cloud1");
}

TEST_F(LiveStateTest, CopiesEveryObjectButLocksAndRenamesTheLeaf) {
  must(world.store().put("iac-state/j1/terraform.tfstate", "one", {}));
  // A lock of another store's name, as an older copy left it, locks nothing here.
  must(world.store().put("iac-state/j1/default.tflock", "lock", {}));
  must(world.store().put("iac-state/j2/terraform.tfstate", "two", {}));
  must(world.store().put("iac-state/j2/outputs.json", "out", {}));
  must(world.store().put("terraform-state/old/terraform.tfstate", "peer", {}));
  must(world.store().put("iac-statement/x.yml", "not", {}));
  EXPECT_EQ(must(patch(kSwitchConfirmed)).iac_state_migrated, 4);
  EXPECT_EQ(active(), "obj_cloud3");
  EXPECT_EQ(target().bytes_of("iac-state/j1/default.tfstate"), "one");
  EXPECT_EQ(target().bytes_of("iac-state/j2/outputs.json"), "out");
  EXPECT_EQ(target().bytes_of("terraform-state/old/default.tfstate"), "peer");
  EXPECT_FALSE(target().has("iac-state/j1/default.tflock"));
  EXPECT_FALSE(target().has("iac-statement/x.yml"));
  EXPECT_TRUE(world.store().has("iac-state/j1/terraform.tfstate")) << "the originals stay";
}

TEST_F(LiveStateTest, TakesThePeersNameOfTheFlag) {
  must(world.store().put("iac-state/j1/terraform.tfstate", "one", {}));
  auto body = R"({"storage_active_backend":"gcs","migrate_terraform_state":true})";
  EXPECT_EQ(must(patch(body)).iac_state_migrated, 1);
}

TEST_F(LiveStateTest, StaysWhereItIsWhenTheCopyFails) {
  must(world.store().put("iac-state/j1/terraform.tfstate", std::string(kPartBytes + 1, 's'), {}));
  target().fail_next_part = true;
  auto failed = patch(kSwitchConfirmed);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::upstream);
  EXPECT_EQ(active(), "obj_cloud1");
}

TEST_F(LiveStateTest, GuardsEveryWayToTurnAway) {
  must(world.store().put("iac-state/j1/terraform.tfstate", "one", {}));
  for (auto body : {R"({"storage_active_backend":"local"})", R"({"storage_obj_cloud1_bucket":""})"}) {
    auto refused = patch(body);
    ASSERT_FALSE(refused) << body;
    EXPECT_EQ(refused.error().code, Code::conflict) << body;
  }
  must(patch(R"({"storage_active_backend":"s3","storage_hub_backend":"gcs"})"));
}

TEST_F(LiveStateTest, KeepsTheStateOfFileSystemsInTheDeployFolder) {
  must(patch(R"({"storage_active_backend":"local"})"));
  std::filesystem::create_directory(world.scratch / "deploy");
  must(folder().put("j1/terraform.tfstate", "one", {}));
  must(folder().put("cloud1-vm-deploy", "#!/bin/sh", {}));
  EXPECT_FALSE(patch(kSwitch));
  EXPECT_EQ(must(patch(kSwitchConfirmed)).iac_state_migrated, 1);
  EXPECT_EQ(target().bytes_of("iac-state/j1/default.tfstate"), "one");
  EXPECT_FALSE(target().has("iac-state/cloud1-vm-deploy"));
}

TEST_F(LiveStateTest, TakesAStoreThatCannotBeAskedForOneThatHoldsState) {
  deafen("obj_cloud1");
  auto refused = patch(kSwitch);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_NE(refused.error().message.find("abandon_iac_state=true"), std::string::npos);
  EXPECT_EQ(patch(kSwitchConfirmed).error().code, Code::upstream);
  EXPECT_EQ(active(), "obj_cloud1");
}

TEST_F(LiveStateTest, LeavesSuchAStoreWhenTheStateIsGivenUpAndRecordsThat) {
  deafen("obj_cloud1");
  auto as_token = world.admin;
  as_token.via = Via::token;
  auto body = must(parse_json(R"({"storage_active_backend":"gcs","abandon_iac_state":true})"));
  auto by_token = one.config_service.change_storage(as_token, body);
  ASSERT_FALSE(by_token);
  EXPECT_EQ(by_token.error().code, Code::forbidden);
  EXPECT_EQ(must(one.config_service.change_storage(world.admin, body)).iac_state_migrated, 0);
  EXPECT_EQ(active(), "obj_cloud3");
  ASSERT_EQ(world.audited("storage_state_abandon").size(), 1u);
  EXPECT_NE(world.audited("storage_state_abandon")[0].find("obj_cloud1"), std::string::npos);
}

TEST_F(LiveStateTest, DoesNotGiveUpTheStateOfAStoreThatAnswers) {
  must(world.store().put("iac-state/j1/terraform.tfstate", "{}", {}));
  auto refused = patch(R"({"storage_active_backend":"gcs","abandon_iac_state":true})");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_EQ(world.audited("storage_state_abandon").size(), 0u);
}

TEST_F(LiveStateTest, WaitsForAJobThatRuns) {
  add_job("j1", "running");
  deafen("obj_cloud1");
  for (auto body :
       {kSwitch, kSwitchConfirmed, R"({"storage_active_backend":"gcs","abandon_iac_state":true})"}) {
    auto refused = patch(body);
    ASSERT_FALSE(refused) << body;
    EXPECT_EQ(refused.error().code, Code::conflict) << body;
    EXPECT_NE(refused.error().message.find("j1"), std::string::npos);
  }
  must(patch(R"({"storage_hub_backend":"gcs"})"));
}

TEST_F(LiveStateTest, GuardsEveryDoor) {
  add_account(*world.sql, one.directory, {"root", Secret("correct horse"), true, {}, {}});
  must(world.store().put("iac-state/j1/terraform.tfstate", "one", {}));
  auto changed = one.config_service.change(world.admin, {{"storage_active_backend", "gcs"}}, "api");
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, Code::conflict);
  auto import = must(one.config_service.import(
      world.admin, {must(parse_json(R"({"storage_active_backend":"gcs","fine":"1"})")), {}, {}, "", {}, {}},
      ""));
  EXPECT_EQ(import.refused, (std::map<std::string, std::string>{{"storage_active_backend", "live_state"}}));
  EXPECT_EQ(active(), "obj_cloud1");
  must(one.config_service.change(world.admin, {{"storage_active_backend", "gcs"}}, "api", {.migrate = true}));
  EXPECT_EQ(active(), "obj_cloud3");
  EXPECT_TRUE(target().has("iac-state/j1/default.tfstate"));
  auto change_id = must(world.config.history("storage_active_backend", 0, 1)).at(0).change_id;
  EXPECT_EQ(one.config_service.rollback(world.admin, change_id).error().code, Code::conflict);
  auto undone = to_json(must(one.config_service.rollback(world.admin, change_id, {.migrate = true})));
  EXPECT_EQ(undone["iac_state_left"][0]["backend"], "obj_cloud3");
  EXPECT_EQ(undone["iac_state_migrated"], undone["iac_state_left"].size());
  EXPECT_EQ(active(), "obj_cloud1");
}

TEST_F(LiveStateTest, NamesEachJobThatRuns) {
  add_job("j1", "running");
  add_job("j2", "running");
  auto refused = patch(kSwitchConfirmed);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("j1, j2"), std::string::npos);
  EXPECT_EQ(refused.error().message.find("migrate_iac_state=true"), std::string::npos);
}

TEST_F(LiveStateTest, RefusesWhileALockIsHeldAndNamesHolderAndAge) {
  must(world.store().put("iac-state/j1/terraform.tfstate", "one", {}));
  auto since = format_iso(world.clock.now() - std::chrono::minutes(125));
  auto lock = fmt::format(R"({{"ID":"l","Who":"ann@host","Operation":"apply","Created":"{}"}})", since);
  must(world.store().put("iac-state/j1/terraform.tfstate.tflock", lock, {}));
  for (auto body : {kSwitch, kSwitchConfirmed}) {
    auto refused = patch(body);
    ASSERT_FALSE(refused) << body;
    EXPECT_EQ(refused.error().code, Code::conflict) << body;
    for (auto part : {"j1", "ann@host", "2 h 5 min", "unlock"})
      EXPECT_NE(refused.error().message.find(part), std::string::npos) << part;
    EXPECT_EQ(refused.error().message.find("migrate_iac_state=true"), std::string::npos);
  }
  EXPECT_FALSE(target().has("iac-state/j1/default.tfstate"));
  must(world.store().remove("iac-state/j1/terraform.tfstate.tflock"));
  EXPECT_EQ(must(patch(kSwitchConfirmed)).iac_state_migrated, 1);
}

TEST_F(LiveStateTest, RefusesWhileTheFirstRunOrTheTargetIsLocked) {
  must(world.store().put("iac-state/new/terraform.tfstate.tflock", "{}", {}));
  EXPECT_EQ(patch(kSwitch).error().code, Code::conflict);
  must(world.store().remove("iac-state/new/terraform.tfstate.tflock"));
  must(world.store().put("iac-state/j1/terraform.tfstate", "one", {}));
  must(target().put("iac-state/j1/default.tflock", "{}", {}));
  auto refused = patch(kSwitchConfirmed);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_FALSE(target().has("iac-state/j1/default.tfstate"));
}

TEST_F(LiveStateTest, ReplacesNoStateThatCouldBeNewerUnlessItsJobIsNamed) {
  auto state = [](int serial, std::string_view lineage, std::string_view end = "}") {
    return fmt::format(R"({{"version":4,"serial":{},"lineage":"{}"{})", serial, lineage, end);
  };
  must(world.store().put("iac-state/j0/terraform.tfstate", state(1, "z"), {}));
  must(world.store().put("iac-state/j1/terraform.tfstate", state(5, "a"), {}));
  for (const auto& newer : {state(6, "a"), state(5, "a", " }"), state(4, "b"), std::string("garbage")}) {
    must(target().put("iac-state/j1/default.tfstate", newer, {}));
    for (auto body : {kSwitch, kSwitchConfirmed}) {
      auto refused = patch(body);
      ASSERT_FALSE(refused) << newer;
      EXPECT_EQ(refused.error().code, Code::conflict);
      EXPECT_NE(refused.error().message.find("j1"), std::string::npos);
      EXPECT_EQ(refused.error().message.find("migrate_iac_state=true"), std::string::npos);
    }
    EXPECT_EQ(target().bytes_of("iac-state/j1/default.tfstate"), newer);
    EXPECT_FALSE(target().has("iac-state/j0/default.tfstate")) << "all checks come before the first copy";
  }
  auto other = R"({"storage_active_backend":"gcs","migrate_iac_state":true,"overwrite_iac_state":["j0"]})";
  EXPECT_EQ(patch(other).error().code, Code::conflict);
  auto named = R"({"storage_active_backend":"gcs","migrate_iac_state":true,"overwrite_iac_state":["j1"]})";
  auto left = must(patch(named)).iac_state_left;
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[1].backend, "obj_cloud1");
  EXPECT_EQ(left[1].key, "iac-state/j1/terraform.tfstate");
  EXPECT_EQ(target().bytes_of("iac-state/j1/default.tfstate"), state(5, "a"));
}

TEST_F(LiveStateTest, ReplacesAnOlderStateAndKeepsAnEqualOne) {
  must(world.store().put("iac-state/j1/terraform.tfstate", R"({"serial":5,"lineage":"a"})", {}));
  must(target().put("iac-state/j1/default.tfstate", R"({"serial":4,"lineage":"a"})", {}));
  must(patch(kSwitchConfirmed));
  EXPECT_EQ(target().bytes_of("iac-state/j1/default.tfstate"), R"({"serial":5,"lineage":"a"})");
  must(patch(R"({"storage_active_backend":"s3","migrate_iac_state":true})"));
  EXPECT_EQ(active(), "obj_cloud1");
}

TEST_F(LiveStateTest, RefusesTwoStatesThatWouldBecomeOne) {
  must(world.store().put("iac-state/j1/terraform.tfstate", "one", {}));
  must(world.store().put("iac-state/j1/default.tfstate", "two", {}));
  EXPECT_EQ(patch(kSwitchConfirmed).error().code, Code::conflict);
  EXPECT_FALSE(target().has("iac-state/j1/default.tfstate"));
}

TEST_F(LiveStateTest, LetsCredentialsChange) {
  must(world.store().put("iac-state/j1/terraform.tfstate", "one", {}));
  must(one.config_service.change(
      world.admin, {{"cloud1_access_key_id", "AKIA2"}, {"cloud1_secret_access_key", "s"}}, "api"));
}

TEST_F(LiveStateTest, AsksNoStoreAboutAChangeThatMovesNothing) {
  deafen("obj_cloud1");
  must(patch(R"({"storage_s3_prefix":"other","storage_gcs_bucket":"d"})"));
}

TEST_F(LiveStateTest, HoldsDeploysBackWhileItCopiesAndExcludesAnotherSwitch) {
  must(world.store().put("iac-state/j1/terraform.tfstate", "one", {}));
  storage::Replica two(world);
  std::vector<bool> running;
  std::optional<Error> refusal;
  world.on_open = [&] {
    running.push_back(must(db::read<bool>(*world.sql, [&](db::Transaction& tx) -> Result<bool> {
      return TRY(jobs::find_backend_switch(tx, world.clock.now())).has_value();
    })));
    if (!running.back() || refusal) return;
    auto on_open = std::exchange(world.on_open, {});
    auto second = two.config_service.change_storage(world.admin, must(parse_json(kSwitchConfirmed)));
    if (!second) refusal = second.error();
    world.on_open = on_open;
  };
  EXPECT_EQ(must(patch(kSwitchConfirmed)).iac_state_migrated, 1);
  world.on_open = {};
  EXPECT_TRUE(running.back());
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code, Code::conflict);
  EXPECT_EQ(refusal->message.find("migrate_iac_state=true"), std::string::npos);
  EXPECT_EQ(active(), "obj_cloud3");
  must(patch(R"({"storage_active_backend":"s3","migrate_iac_state":true})"));
}

TEST_F(LiveStateTest, ASwitchThatLostItsLeaseBeginsAgain) {
  must(world.store().put("iac-state/j1/terraform.tfstate", "one", {}));
  bool is_lost = false;
  world.on_open = [&] {
    must(world.sql->write([&](db::Transaction& tx) -> Result<void> {
      auto changed = TRY(tx.exec("UPDATE backend_switch SET owner = '' WHERE owner <> ''"));
      if (changed > 0) {
        is_lost = true;
        world.on_open = {};
      }
      return {};
    }));
  };
  EXPECT_EQ(must(patch(kSwitchConfirmed)).iac_state_migrated, 1);
  EXPECT_TRUE(is_lost);
  EXPECT_EQ(active(), "obj_cloud3");
}

}  // namespace dash::setup
