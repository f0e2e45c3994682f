#include "core/jobs/log_watcher.hpp"

#include <atomic>

#include "core/jobs/job_rows.hpp"
#include "tests/support/jobs_fixture.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::jobs {
namespace {

class FollowedLog : public JobsFixture {
 protected:
  void append(const std::string& id, int lines) {
    must(sql_->write([&](db::Transaction& tx) {
      return append_log(tx, id, std::vector<std::string>(static_cast<std::size_t>(lines), "line"),
                        clock_.now());
    }));
  }
  // Whether the follower was woken, or need not wait.
  bool has_news(LogWatcher::Follower& follower, std::int64_t after) {
    auto woken = std::make_shared<std::atomic<bool>>(false);
    return follower.wait(after, [woken] { *woken = true; }) || wait_until([&] { return woken->load(); });
  }
  std::shared_ptr<LogWatcher> watcher_ = std::make_shared<LogWatcher>(*sql_);
};

TEST_F(FollowedLog, WakesForLinesBehindTheFollowersOwn) {
  auto one = deployed().id, other = deployed(machine({{"name", "other"}})).id;
  LogWatcher::Follower first(watcher_, one), second(watcher_, one), third(watcher_, other);
  std::atomic<int> woken = 0;
  std::atomic<bool> third_woken = false;
  EXPECT_FALSE(first.wait(0, [&] { ++woken; }));
  EXPECT_FALSE(second.wait(3, [&] { ++woken; }));
  EXPECT_FALSE(third.wait(0, [&] { third_woken = true; }));
  append(one, 3);
  EXPECT_TRUE(wait_until([&] { return woken == 1; }));
  append(one, 1);
  EXPECT_TRUE(wait_until([&] { return woken == 2; }));
  EXPECT_TRUE(second.wait(2, [] {}));
  EXPECT_FALSE(third_woken);
}

TEST_F(FollowedLog, WakesAtTheEndOfAJobAndOfABatch) {
  auto id = deployed().id;
  auto batch = must(jobs_.submit(alice_, {"cloud1:vm:deploy", machine({{"count", 2}}), "", false})).jobs;
  LogWatcher::Follower follower(watcher_, id), of_batch(watcher_, *batch.at(0).batch_id),
      of_none(watcher_, "none");
  EXPECT_TRUE(has_news(of_none, 0));
  must(jobs_.cancel(root_, id));
  EXPECT_TRUE(has_news(follower, 0));
  must(jobs_.cancel(root_, batch.at(0).id));
  std::atomic<bool> woken = false;
  EXPECT_FALSE(of_batch.wait(9, [&] { woken = true; }));
  must(jobs_.cancel(root_, batch.at(1).id));
  EXPECT_TRUE(wait_until([&] { return woken.load(); }));
}

}  // namespace
}  // namespace dash::jobs
