// A deploy with a record, and its state on a store in memory.
#pragma once
#include <gtest/gtest.h>

#include "core/deploy/records.hpp"
#include "core/storage/settings/locked_state.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::deploy {

inline std::string state_text(
    int serial, std::string_view resources = R"([{"mode":"managed","type":"t","name":"n","instances":[{}]}])",
    std::string_view lineage = "l") {
  return fmt::format(R"({{"version":4,"serial":{},"lineage":"{}","outputs":{{}},"resources":{}}})", serial,
                     lineage, resources);
}

inline std::string lock_info(std::string_view id) {
  return fmt::format(R"({{"ID":"{}","Operation":"apply","Who":"ann@host","Created":"2026-01-01T00:00:00Z"}})",
                     id);
}

class DeployState : public testing::Test {
 protected:
  DeployState() {
    must(records_.begin("j1", "cloud1:vm:deploy", ModuleFolder{"", {{"main.tf", "x", false}}, {}}));
  }

  std::unique_ptr<storage::LockedState> open() {
    auto opener = [this](const storage::Backend&, const config::Values&) {
      return Result<std::shared_ptr<storage::ObjectStore>>(store_);
    };
    const auto* s3 = must(storage::find_backend("obj_cloud1"));
    config::Values none;
    return must(storage::LockedState::open(
        must(storage::StatePlace::open(opener, {s3, &none}, scratch_ / "deploy")), "j1"));
  }
  std::string stored() {
    auto state = open();
    return must(state->read());
  }

  const std::string kKey = "iac-state/j1/terraform.tfstate";
  Scratch scratch_;
  FakeClock clock_;
  std::unique_ptr<db::Sql> sql_ = scratch_database(scratch_);
  config::EncryptedStore config_{*sql_, clock_, Secret(std::string(32, 'k'))};
  Records records_{*sql_, clock_, config_};
  std::shared_ptr<storage::MemoryStore> store_ = std::make_shared<storage::MemoryStore>();
};

}  // namespace dash::deploy
