// The gate over the real engine, its settings and its decision log.
#pragma once
#include <gtest/gtest.h>

#include "core/policy/decision_log.hpp"
#include "core/policy/engine.hpp"
#include "core/policy/gate.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/policy_folder.hpp"

namespace dash::policy {

inline const Actor kAlice{"alice", false};
inline const Time kFriday = parse_iso("2026-07-03T14:00:00Z").value();
inline const Time kSaturday = parse_iso("2026-07-04T09:30:00Z").value();

inline const Json kDeploy{
    {"region", "eu-west-1"}, {"instance_type", "t3.medium"}, {"image", "ami-1"}, {"name", "web"}};

class PolicyGate : public testing::Test {
 protected:
  void set(config::Changes changes) { must(store_.apply(changes, {"root", "test"})); }
  void enable(const std::string& gated = "cloud1:vm:deploy, cloud1:vm:destroy") {
    set({{"admission_control_enabled", "true"}, {"admission_gated_actions", gated}});
  }
  Decision judge(std::string_view action = "cloud1:vm:deploy", const Json& request = kDeploy,
                 Time at = kFriday) {
    return must(gate_.evaluate(action, request, kAlice, at));
  }

  Scratch scratch_;
  FakeClock clock_;
  PolicyFolder folder_;
  std::unique_ptr<db::Sql> sql_ = scratch_database(scratch_);
  config::EncryptedStore store_{*sql_, clock_, config::derive_store_key(Secret("key"), {})};
  config::Settings settings_{store_};
  std::unique_ptr<Engine> engine_ = folder_.engine();
  DecisionLog log_{*sql_};
  EngineGate gate_{settings_, *engine_, log_};
};

}  // namespace dash::policy
