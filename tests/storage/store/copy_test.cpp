#include "core/storage/store/copy.hpp"

#include <gtest/gtest.h>

#include <mutex>

#include "tests/support/memory_store.hpp"
#include "tests/support/must.hpp"

namespace dash::storage {
namespace {

// Counts the pieces under way; ends the copy at piece `stop_at`.
class CountingWatch final : public CopyWatch {
 public:
  Result<void> before_piece(std::uint64_t bytes) override {
    std::lock_guard lock(mutex_);
    asked_for += bytes;
    if (++pieces == stop_at) return fail(Code::interrupted, "stopped");
    return {};
  }
  void after_piece(std::uint64_t bytes) override {
    std::lock_guard lock(mutex_);
    moved += bytes;
  }
  std::uint64_t asked_for = 0, moved = 0;
  int pieces = 0, stop_at = -1;

 private:
  std::mutex mutex_;
};

class CopyObject : public ::testing::Test {
 protected:
  CopyObject() {
    for (std::size_t i = 0; i < large.size(); i += 1000) large[i] = static_cast<char>('a' + i / 1000 % 26);
    must(from.put("large", large, {}));
    must(from.put("small", "abc", {}));
  }
  Result<CopyResult> copy(const std::string& key, BufferPool& buffers, bool only_if_absent = false) {
    return copy_object({from, must(from.head(key)), ""}, to, key, {only_if_absent, &watch}, buffers);
  }
  std::string large = std::string(9 * kPartBytes + 17, 'x');
  MemoryStore from{"memory://from"}, to{"memory://to"};
  CountingWatch watch;
};

TEST_F(CopyObject, MovesItsPartsInAnyOrderAndStoresThemInTheirs) {
  for (std::size_t count : {1u, 7u, 12u}) {
    BufferPool buffers(count);
    auto copied = must(copy("large", buffers));
    EXPECT_EQ(to.bytes_of("large"), large) << count;
    EXPECT_TRUE(copied.digest.starts_with("p8:"));
    EXPECT_EQ(buffers.available(), count) << "all are returned";
  }
  EXPECT_EQ(watch.moved, 3 * large.size());
}

TEST_F(CopyObject, GivesTheSameDigestWithOneBufferAndWithMany) {
  BufferPool one(1), many(12);
  EXPECT_EQ(must(copy("large", one)).digest, must(copy("large", many)).digest);
}

TEST_F(CopyObject, ReadsALargeObjectWithOneRequest) {
  BufferPool buffers(12);
  must(from.put("two parts", std::string(2 * kPartBytes, 'y'), {}));
  must(copy("two parts", buffers));
  auto reads = from.take_reads();
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_EQ(reads[0].size, 2 * kPartBytes);
}

TEST_F(CopyObject, EndsWithTheErrorOfAPartThatIsNotStored) {
  for (std::size_t count : {1u, 12u}) {
    BufferPool buffers(count);
    to.fail_next_part = true;
    EXPECT_EQ(copy("large", buffers).error().message, "connection cut");
    EXPECT_EQ(buffers.available(), count);
    EXPECT_EQ(to.open_uploads(), 0u);
  }
}

TEST_F(CopyObject, SaysSoWhenTheObjectEndsEarly) {
  BufferPool buffers(12);
  auto object = must(from.head("large"));
  ++object.size;
  auto ended = copy_object({from, object, ""}, to, "large", {false, &watch}, buffers);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, Code::integrity);
  EXPECT_EQ(to.open_uploads(), 0u);
}

TEST_F(CopyObject, EndsWithinAPieceWhenItsWatchSaysSo) {
  BufferPool buffers(12);
  watch.stop_at = 3;
  auto stopped = copy("large", buffers);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::interrupted);
  EXPECT_LE(watch.moved, 5 * kPartBytes) << "the pieces that were under way";
  EXPECT_FALSE(to.has("large"));
  EXPECT_EQ(to.open_uploads(), 0u);
}

TEST_F(CopyObject, IsNotCommittedWhenItIsStoppedAfterItsLastPart) {
  BufferPool buffers(1);
  watch.stop_at = 11;  // ten parts, and the question before the commit
  EXPECT_EQ(copy("large", buffers).error().code, Code::interrupted);
  EXPECT_EQ(watch.moved, large.size());
  EXPECT_FALSE(to.has("large"));
}

TEST_F(CopyObject, CopiesASmallObjectInOnePiece) {
  BufferPool buffers(1);
  must(copy("small", buffers));
  EXPECT_EQ(to.bytes_of("small"), "abc");
  EXPECT_EQ(watch.asked_for, 3u);
  EXPECT_EQ(copy("small", buffers, /*only_if_absent=*/true).error().code, Code::conflict);
}

}  // namespace
}  // namespace dash::storage
