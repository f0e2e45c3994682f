// The real engine over a policy directory of the test's own.
#pragma once
#include <gtest/gtest.h>

#include "tests/support/policy_folder.hpp"

namespace dash::policy {

inline constexpr const char* kDeploy =
    R"({"action":"cloud1:vm:deploy","actor":{"username":"alice","is_admin":false},
  "request":{"region":"us-east-1","instance_type":"t3.medium","image":"ami-1","name":"web"},
  "limits":{"allowed_regions":[],"denied_instance_types":[],"prod_window":[]},
  "now":{"iso":"2026-07-03T14:00:00Z","weekday":"fri","hour":14}})";

inline std::string cause(const Result<EvalResult>& r) { return r ? "judged" : r.error().message; }

class OpaEngine : public testing::Test {
 protected:
  PolicyFolder folder_;
  std::unique_ptr<Engine> engine_ = folder_.engine();
};

}  // namespace dash::policy
