#include "core/storage/store/smb/frame.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::storage::smb {
namespace {

TEST(SmbFrame, ReadsTheHeadItWrites) {
  auto sizes = must(read_frame_head(write_frame_head({0x01020304 & (kMaxFrameJson - 1), 8u << 20})));
  EXPECT_EQ(sizes.json, 0x01020304u & (kMaxFrameJson - 1));
  EXPECT_EQ(sizes.bytes, 8u << 20);
}

TEST(SmbFrame, RefusesSizesThatNoMessageHas) {
  for (auto sizes : {FrameSizes{0, 0}, FrameSizes{kMaxFrameJson + 1, 0}, FrameSizes{2, kMaxFrameBytes + 1}})
    EXPECT_EQ(read_frame_head(write_frame_head(sizes)).error().code, Code::integrity);
  EXPECT_EQ(read_frame_head("short").error().code, Code::integrity);
}

TEST(SmbFrame, CarriesAnErrorWithItsCode) {
  auto answer = read_reply(dump_json(write_error(make_error(Code::precondition, "it changed"))));
  EXPECT_EQ(answer.error().code, Code::precondition);
  EXPECT_EQ(answer.error().message, "it changed");
  EXPECT_TRUE(read_reply("{\"size\":1}"));
  EXPECT_EQ(read_reply("[]").error().code, Code::integrity);
}

}  // namespace
}  // namespace dash::storage::smb
