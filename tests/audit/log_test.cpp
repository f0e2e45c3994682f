#include "core/audit/log.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "core/audit/anchor.hpp"
#include "core/audit/prove.hpp"
#include "core/audit/read.hpp"
#include "core/audit/verify.hpp"
#include "core/crypto/hash.hpp"
#include "tests/audit/audit_fixture.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::audit {
namespace {

TEST_F(AuditLog, IsGoodWhenEmptyAndWhenWritten) {
  EXPECT_EQ(dump_json(to_json(must(verify(log_, {})))).substr(0, 44),
            R"({"ok":true,"count":0,"first_broken_seq":null)");
  for (int i = 1; i <= 20; ++i) EXPECT_EQ(append(), i);
  auto verdict = must(verify(log_, {}));
  EXPECT_TRUE(verdict.ok);
  EXPECT_EQ(verdict.count, 20);
}

TEST_F(AuditLog, GoesAwayWithTheTransactionThatItRecords) {
  append();
  auto undone = sql_->write([&](db::Transaction& tx) -> Result<void> {
    TRY(log_.append(tx, {"bob", "x", std::nullopt, {}, "", ""}));
    return fail(Code::conflict, "undone");
  });
  EXPECT_FALSE(undone);
  append();
  auto verdict = must(verify(log_, {}));
  EXPECT_TRUE(verdict.ok);
  EXPECT_EQ(verdict.count, 2);
}

// Four processes with several threads each, independent of each other.
TEST_F(AuditLog, KeepsOneChainUnderFourProcesses) {
  constexpr int kProcesses = 4, kThreads = 3, kEach = 25;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int failed = 0;
      {
        auto sql = must(db::open_sqlite(scratch_ / "dashctl.db"));
        Log log(*sql, clock_, Secret(std::string(32, 'k')));
        std::vector<std::jthread> threads;
        std::atomic<int> failures = 0;
        for (int t = 0; t < kThreads; ++t)
          threads.emplace_back([&] {
            for (int i = 0; i < kEach; ++i) failures += !log.append({"u", "a", std::nullopt, {}, "", ""});
          });
        threads.clear();
        failed = failures;
      }
      ::_exit(failed);
    }
    children.push_back(child);
  }
  for (auto child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  auto verdict = must(verify(log_, {}));
  EXPECT_TRUE(verdict.ok) << dump_json(to_json(verdict));
  EXPECT_EQ(verdict.count, kProcesses * kThreads * kEach);
}

TEST_F(AuditLog, IsMarkedForEverWhenWrittenWithAnotherKey) {
  append();
  Log other(*sql_, clock_, Secret(std::string(32, 'x')));
  must(other.append({"bob", "login", std::nullopt, {}, "", ""}));
  append();
  for (auto* log : {&log_, &other}) {
    auto verdict = must(verify(*log, {}));
    EXPECT_FALSE(verdict.ok);
    EXPECT_TRUE(verdict.first_broken_seq);
  }
}

}  // namespace
}  // namespace dash::audit
