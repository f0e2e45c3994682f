// The audit log on both databases, written by several threads of two replicas.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/audit/log.hpp"
#include "core/audit/verify.hpp"
#include "tests/contract/databases.hpp"
#include "tests/support/fake_clock.hpp"

namespace dash::audit {
namespace {

class AuditContract : public testing::TestWithParam<std::string_view> {
 protected:
  Scratch scratch_;
  FakeClock clock_;
  std::unique_ptr<db::Sql> sql_ = contract_database(GetParam(), scratch_);
  const Secret key_{std::string(32, 'k')};
};

Event event(std::string target) { return {"ann", "deploy:denied", std::move(target), {}, "", ""}; }

TEST_P(AuditContract, StaysOneChainUnderManyThreadsOfTwoReplicas) {
  constexpr int kThreads = 8, kEach = 40;
  auto replica = contract_replica(GetParam(), scratch_);
  Log one(*sql_, clock_, key_), two(*replica, clock_, key_);
  std::vector<std::jthread> threads;
  std::atomic<std::int64_t> sum = 0, failed = 0;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        auto seq = (t % 2 ? one : two).append(event("web"));
        if (seq)
          sum += *seq;
        else
          ++failed;
      }
    });
  threads.clear();
  constexpr std::int64_t kAll = kThreads * kEach;
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(sum, kAll * (kAll + 1) / 2) << "each caller got a number of its own";
  auto verdict = must(verify(one, {}));
  EXPECT_TRUE(verdict.ok) << (verdict.problems.empty() ? "" : verdict.problems[0]);
  EXPECT_EQ(verdict.count, kAll);
}

// PostgreSQL keeps no NUL, so such an entry fails there; it must not take those with it that came with it.
TEST_P(AuditContract, AnEntryThatCannotBeKeptFailsAlone) {
  Log log(*sql_, clock_, key_);
  std::vector<std::jthread> threads;
  std::atomic<int> good_failed = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        bool is_bad = t % 2 == 0;
        auto seq = log.append(event(is_bad ? std::string("a\0b", 3) : "web"));
        if (!seq && !is_bad) ++good_failed;
      }
    });
  threads.clear();
  EXPECT_EQ(good_failed, 0);
  auto verdict = must(verify(log, {}));
  EXPECT_TRUE(verdict.ok);
  EXPECT_GE(verdict.count, 80);
}

INSTANTIATE_TEST_SUITE_P(Databases, AuditContract, testing::Values("sqlite", "postgres"),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace dash::audit
