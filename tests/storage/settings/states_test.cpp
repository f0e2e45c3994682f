#include "core/storage/settings/states.hpp"

#include <gtest/gtest.h>

#include "tests/support/storage_instance.hpp"

namespace dash::storage {
namespace {

constexpr auto kState =
    R"({"version":4,"serial":3,"lineage":"l","resources":[{"type":"t","name":"n","instances":[{}]}]})";
constexpr auto kLock =
    R"({"ID":"id-1","Who":"ann@host","Operation":"apply","Created":"2026-01-01T00:00:00Z"})";
constexpr auto kLockKey = "iac-state/j1/terraform.tfstate.tflock";

class StatesTest : public ::testing::Test {
 protected:
  StatesTest() {
    must(world.store().put("iac-state/j1/terraform.tfstate", kState, {}));
    must(world.store().put(kLockKey, kLock, {}));
  }
  // A deploy whose worker's lease ends then.
  void add_running_job(const std::string& id, Time lease_until) {
    must(world.sql->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec(
          R"(INSERT INTO jobs
               (id, seq, action, receipt, name, region, request, parameters, state, message,
                created_at, created_by, created_by_admin, needs_policy_approval, needs_booking_approval,
                approval_reasons, approval_digest, attempts, cancel_requested, lease_until)
             VALUES ($1, 1, 'cloud1:vm:deploy', 'r', 'n', 'x', '{}', '{}', 'running', '',
               1, 'a', 0, 0, 0,
               '[]', '', 1, 0, $2))",
          {id, to_micros(lease_until)}));
      return {};
    }));
  }
  StorageFixture world;
  Replica one{world};
  States& states = one.storage.states();
};

TEST_F(StatesTest, ListsJobSerialAndLock) {
  EXPECT_EQ(
      dump_json(to_json(must(states.list(world.admin)))),
      R"({"backend":"obj_cloud1","items":[{"job":"j1","key":"iac-state/j1/terraform.tfstate","bytes":)" +
          std::to_string(std::string_view(kState).size()) +
          R"(,"serial":3,"lineage":"l","resources":1,"lock":{"id":"id-1","who":"ann@host",)"
          R"("operation":"apply","created_at":"2026-01-01T00:00:00Z"}}]})");
  EXPECT_EQ(show_json(must(states.show(world.admin, "j1")))["resources"][0]["address"], "t.n");
  EXPECT_EQ(states.show(world.admin, "j2").error().code, Code::not_found);
}

TEST_F(StatesTest, AreForAdmins) {
  EXPECT_EQ(states.list(world.ann).error().code, Code::forbidden);
  EXPECT_EQ(states.show(world.ann, "j1").error().code, Code::forbidden);
  EXPECT_EQ(states.history(world.ann, "j1").error().code, Code::forbidden);
  EXPECT_EQ(states.unlock(world.ann, "j1", "id-1").error().code, Code::forbidden);
}

TEST_F(StatesTest, UnlockNeedsTheIdAndIsAudited) {
  EXPECT_EQ(states.unlock(world.admin, "j1", "").error().code, Code::validation);
  EXPECT_EQ(states.unlock(world.admin, "j1", "id-2").error().code, Code::conflict);
  EXPECT_TRUE(world.store().has(kLockKey));
  EXPECT_TRUE(world.audited("storage_state_unlock").empty());
  must(states.unlock(world.admin, "j1", "id-1"));
  EXPECT_FALSE(world.store().has(kLockKey));
  EXPECT_EQ(world.audited("storage_state_unlock").size(), 1u);
  EXPECT_EQ(states.unlock(world.admin, "j1", "id-1").error().code, Code::not_found);
}

TEST_F(StatesTest, UnlockSparesALockThatWasTakenBetweenCheckAndRemoval) {
  constexpr auto kNewer = R"({"ID":"id-2","Who":"bob@host"})";
  world.store().before_remove = [&] {
    world.store().before_remove = nullptr;
    must(world.store().put(kLockKey, kNewer, {}));
  };
  auto refused = states.unlock(world.admin, "j1", "id-1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_EQ(world.store().bytes_of(kLockKey), kNewer);
}

TEST_F(StatesTest, HistoryListsVersionsOrSaysThatNoneAreKept) {
  world.store().kept = {Versioning::off, {{.id = "null", .size = 3, .is_current = true}}};
  auto off = to_json(must(states.history(world.admin, "j1")));
  EXPECT_EQ(off["versioning"], "off");
  EXPECT_EQ(off["versions"], OrderedJson::array());
  EXPECT_EQ(off["key"], "iac-state/j1/terraform.tfstate");
  EXPECT_EQ(states.history(world.admin, "j2").error().code, Code::not_found);
  world.store().kept = {Versioning::on, {{.id = "v2", .is_deletion = true}, {.id = "v1", .size = 3}}};
  auto deleted = to_json(must(states.history(world.admin, "j2")));
  EXPECT_EQ(dump_json(deleted["versions"]),
            R"([{"id":"v2","bytes":0,"modified_at":"1970-01-01T00:00:00Z","current":false,"deleted":true},)"
            R"({"id":"v1","bytes":3,"modified_at":"1970-01-01T00:00:00Z","current":false,"deleted":false}])");
  for (auto job : {"", "..", ".x", "a/b", "../j1"})
    EXPECT_EQ(states.history(world.admin, job).error().code, Code::not_found) << job;
}

TEST_F(StatesTest, UnlockWaitsForTheLeaseOfTheJob) {
  add_running_job("j1", world.clock.now() + std::chrono::seconds(30));
  auto refused = states.unlock(world.admin, "j1", "id-1");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_TRUE(world.store().has(kLockKey));
  world.clock.advance(std::chrono::seconds(31));
  must(states.unlock(world.admin, "j1", "id-1"));
}

TEST_F(StatesTest, ALeaseFromAWrongClockHoldsNoLock) {
  add_running_job("j1", world.clock.now() + std::chrono::hours(24 * 365));
  must(states.unlock(world.admin, "j1", "id-1"));
}

}  // namespace
}  // namespace dash::storage
