#include "core/base/buffer_pool.hpp"

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

TEST(BufferPool, KeepsSomeBuffersForUploads) {
  BufferPool pool({3, 1});
  auto one = pool.try_acquire(kAnn), two = pool.try_acquire(kBob);
  EXPECT_TRUE(one && two);
  EXPECT_FALSE(pool.try_acquire(kEve));
  EXPECT_FALSE(pool.try_acquire());
  EXPECT_TRUE(pool.try_acquire(uploading(kEve)));
}

TEST(BufferPool, GivesNoUserAndNoNetworkMoreThanAShare) {
  BufferPool pool({6, 0, {2, 3}});
  std::vector<Buffer> held;
  auto has = [&](const Borrower& who) {
    auto part = pool.try_acquire(who);
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

TEST(BufferPool, TheShareGoesBackWithTheBufferThatWasMoved) {
  BufferPool pool({2, 0, {1, 1}});
  auto one = pool.try_acquire(kAnn);
  Buffer moved = std::move(one);
  EXPECT_FALSE(pool.try_acquire(kAnn));
  moved = Buffer();
  EXPECT_TRUE(pool.try_acquire(kAnn));
}

TEST(BufferPool, WhoWaitsGetsTheFirstBufferThatIsForHim) {
  BufferPool pool({2, 1});
  auto mine = pool.try_acquire();
  auto theirs = pool.try_acquire(uploading(kAnn));
  EXPECT_EQ(pool.acquire(milliseconds(1), kBob).error().code, Code::busy);
  std::thread giver([&] {
    theirs = Buffer();  // for uploads alone
    mine = Buffer();
  });
  EXPECT_TRUE(pool.acquire(milliseconds(10'000), kBob));
  giver.join();
}

TEST(BufferPool, AServersBuffersAreShared) {
  auto options = server_pool_options(12);
  EXPECT_EQ(options.count, 12u);
  EXPECT_EQ(options.reserved_for_uploads, 3u);
  EXPECT_EQ(options.share_limits.per_user, 6u);
  EXPECT_EQ(options.share_limits.per_network, 9u);
  EXPECT_EQ(server_pool_options(2).share_limits.per_user, 2u);  // what an inline upload needs
  EXPECT_EQ(server_pool_options(1).share_limits.per_user, 1u);
}

}  // namespace
}  // namespace dash
