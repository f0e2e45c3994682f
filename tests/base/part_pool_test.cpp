#include "core/base/part_pool.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace dash {
namespace {

using std::chrono::milliseconds;

const Borrower kAnn{{"ann", "192.0.2.1"}};
const Borrower kBob{{"bob", "192.0.2.1"}};
const Borrower kEve{{"eve", "192.0.2.9"}};

Borrower uploading(Borrower who) {
  who.is_upload = true;
  return who;
}

TEST(PartPool, KeepsSomeBuffersForUploads) {
  PartPool pool({3, 1});
  auto one = pool.try_take(kAnn), two = pool.try_take(kBob);
  EXPECT_TRUE(one && two);
  EXPECT_FALSE(pool.try_take(kEve));
  EXPECT_FALSE(pool.try_take());
  EXPECT_TRUE(pool.try_take(uploading(kEve)));
}

TEST(PartPool, GivesNoUserAndNoNetworkMoreThanAShare) {
  PartPool pool({6, 0, {2, 3}});
  std::vector<Part> held;
  auto has = [&](const Borrower& who) {
    auto part = pool.try_take(who);
    bool got = static_cast<bool>(part);
    if (got) held.push_back(std::move(part));
    return got;
  };
  EXPECT_TRUE(has(kAnn) && has(kAnn));
  EXPECT_FALSE(has(kAnn));
  EXPECT_FALSE(has(uploading(kAnn)));
  EXPECT_TRUE(has(kBob));
  EXPECT_FALSE(has(kBob));  // the network's share
  EXPECT_TRUE(has(kEve));
  EXPECT_TRUE(has({}) && has({}));  // the server's own work has no share
  held.erase(held.begin());
  EXPECT_TRUE(has(kAnn));
}

TEST(PartPool, TheShareGoesBackWithTheBufferThatWasMoved) {
  PartPool pool({2, 0, {1, 1}});
  auto one = pool.try_take(kAnn);
  Part moved = std::move(one);
  EXPECT_FALSE(pool.try_take(kAnn));
  moved = Part();
  EXPECT_TRUE(pool.try_take(kAnn));
}

TEST(PartPool, WhoWaitsGetsTheFirstBufferThatIsForHim) {
  PartPool pool({2, 1});
  auto mine = pool.try_take();
  auto theirs = pool.try_take(uploading(kAnn));
  EXPECT_EQ(pool.take(milliseconds(1), kBob).error().code, Code::busy);
  std::thread giver([&] {
    theirs = Part();  // for uploads alone
    mine = Part();
  });
  EXPECT_TRUE(pool.take(milliseconds(10'000), kBob));
  giver.join();
}

TEST(PartPool, AServersBuffersAreShared) {
  auto options = shared_by_callers(12);
  EXPECT_EQ(options.count, 12u);
  EXPECT_EQ(options.reserved_for_uploads, 3u);
  EXPECT_EQ(options.most.per_user, 6u);
  EXPECT_EQ(options.most.per_network, 9u);
  EXPECT_EQ(shared_by_callers(2).most.per_user, 2u);  // what an inline upload needs
  EXPECT_EQ(shared_by_callers(1).most.per_user, 1u);
}

}  // namespace
}  // namespace dash
