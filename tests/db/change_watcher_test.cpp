#include "core/db/change_watcher.hpp"

#include <atomic>

#include "tests/support/jobs_fixture.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::db {
namespace {

class FollowedChanges : public JobsFixture {
 protected:
  std::int64_t newest() { return must(read<std::int64_t>(*sql_, newest_change)); }
  std::shared_ptr<ChangeWatcher> watcher_ = std::make_shared<ChangeWatcher>(*sql_);
};

TEST_F(FollowedChanges, WakesThoseWhoHaveNotSeenTheNewest) {
  deployed();
  auto seen = newest();
  ChangeWatcher::Follower behind(watcher_), current(watcher_);
  std::atomic<bool> behind_woken = false, current_woken = false;
  bool is_known = behind.wait(seen - 1, [&] { behind_woken = true; });
  EXPECT_FALSE(current.wait(seen, [&] { current_woken = true; }));
  EXPECT_TRUE(is_known || wait_until([&] { return behind_woken.load(); }));
  EXPECT_FALSE(current_woken);
  deployed(machine({{"name", "other"}}));
  EXPECT_TRUE(wait_until([&] { return current_woken.load(); }));
  EXPECT_TRUE(current.wait(seen, [] {}));
}

TEST_F(FollowedChanges, DoesNotWakeThoseWhoHaveGone) {
  auto seen = newest();
  std::atomic<bool> gone_woken = false, other_woken = false;
  ChangeWatcher::Follower other(watcher_);
  {
    ChangeWatcher::Follower gone(watcher_);
    EXPECT_FALSE(gone.wait(seen, [&] { gone_woken = true; }));
  }
  EXPECT_FALSE(other.wait(seen, [&] { other_woken = true; }));
  deployed();
  EXPECT_TRUE(wait_until([&] { return other_woken.load(); }));
  EXPECT_FALSE(gone_woken);
}

}  // namespace
}  // namespace dash::db
