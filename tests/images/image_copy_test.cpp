#include "core/images/image_copy.hpp"

#include <gtest/gtest.h>

#include "tests/support/memory_store.hpp"
#include "tests/support/must.hpp"

namespace dash::images {
namespace {

class NoWatch final : public storage::CopyWatch {
 public:
  Result<void> before_piece(std::uint64_t) override {
    if (pieces_left-- == 0) return fail(Code::interrupted, "stopped");
    return {};
  }
  void after_piece(std::uint64_t bytes) override { moved += bytes; }
  std::atomic<int> pieces_left = -1;
  std::atomic<std::uint64_t> moved = 0;
};

class ImageCopyTest : public ::testing::Test {
 protected:
  Result<storage::CopyResult> copy(const std::string& key) {
    auto object = must(from.head("a.raw"));
    return copy_image({{from, object, ""}, to, key}, watch, buffers);
  }
  storage::MemoryStore from{"memory://from"}, to{"memory://account/to"};
  BufferPool buffers{2};
  NoWatch watch;
  std::string bytes = std::string(kPartBytes + 512, 'x');
};

TEST_F(ImageCopyTest, ReadsTheCopyBack) {
  must(from.put("a.raw", bytes, {}));
  auto copied = must(copy("b.raw"));
  EXPECT_EQ(to.bytes_of("b.raw"), bytes);
  EXPECT_EQ(copied.digest, must(storage::read_digest(to, copied.object, buffers)));
  EXPECT_EQ(watch.moved, bytes.size());
}

TEST_F(ImageCopyTest, RemovesACopyWithOtherBytes) {
  must(from.put("a.raw", bytes, {}));
  to.torn_keys = {"b.raw"};
  EXPECT_EQ(copy("b.raw").error().code, Code::integrity);
  EXPECT_FALSE(to.has("b.raw"));
}

TEST_F(ImageCopyTest, LeavesNothingWhereverItIsStopped) {
  must(from.put("a.raw", bytes, {}));
  for (int pieces = 0; pieces < 5; ++pieces) {
    watch.pieces_left = pieces;
    EXPECT_EQ(copy("b.raw").error().code, Code::interrupted) << pieces;
    EXPECT_FALSE(to.has("b.raw")) << pieces;
    EXPECT_EQ(to.open_uploads(), 0u);
  }
  watch.pieces_left = 5;  // two parts, the commit, and two parts read back
  must(copy("b.raw"));
}

TEST_F(ImageCopyTest, ReadsFrontAndEndOfAnyLength) {
  std::string footer = "conectix" + std::string(504, '\0');
  must(from.put("a.vhd", bytes + footer, {}));
  EXPECT_EQ(must(read_marks(from, must(from.head("a.vhd")))), " vhd");
  must(from.put("b.vhd", footer, {}));
  EXPECT_EQ(must(read_marks(from, must(from.head("b.vhd")))), " vhd-front vhd");
  must(from.put("c.raw", "short", {}));
  EXPECT_EQ(must(read_marks(from, must(from.head("c.raw")))), "");
  EXPECT_EQ(bucket_of(to), "to");
}

}  // namespace
}  // namespace dash::images
