// An audit log on a database of the test's own.
#pragma once
#include <gtest/gtest.h>

#include "core/audit/log.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::audit {

inline Principal admin() { return {"root", true, {}, {}, Via::local, "", ""}; }

class AuditLog : public testing::Test {
 protected:
  std::int64_t append(std::string action = "login", std::string user = "alice") {
    return must(log_.append(
        {std::move(user), std::move(action), "vm-1", {{"b", 1}, {"a", "\u00e9\n"}}, "10.0.0.7", "r1"}));
  }
  Scratch scratch_;
  FakeClock clock_;
  std::unique_ptr<db::Sql> sql_ = scratch_database(scratch_);
  Log log_{*sql_, clock_, Secret(std::string(32, 'k'))};
};

}  // namespace dash::audit
