#include "core/storage/upload/part_ref.hpp"

#include <gtest/gtest.h>

namespace dash::storage {
namespace {

const Secret kKey(std::string(32, 'k'));
const Secret kOther(std::string(32, 'o'));

TEST(PartRef, CarriesNumberStoreRefAndDigestOfOneUploadOnly) {
  StagedRef part{640, "\"etag\"", std::string(32, '\x01')};
  auto text = seal_part_ref(kKey, "upload-a", part);
  auto back = open_part_ref(kKey, "upload-a", text).value();
  EXPECT_EQ(back.n, 640u);
  EXPECT_EQ(back.store_ref, "\"etag\"");
  EXPECT_EQ(back.sha256, part.sha256);
  EXPECT_EQ(open_part_ref(kKey, "upload-b", text).error().code, Code::invalid);
  EXPECT_FALSE(open_part_ref(kOther, "upload-a", text));
  EXPECT_FALSE(open_part_ref(kKey, "upload-a", "etag"));
}

TEST(PartRef, CarriesMarksThatNoneCanAddOrTake) {
  StagedRef part{1, "etag", std::string(32, '\x01'), "front vhdx"};
  auto back = open_part_ref(kKey, "upload-a", seal_part_ref(kKey, "upload-a", part)).value();
  EXPECT_EQ(back.marks, "front vhdx");
  EXPECT_EQ(back.store_ref, "etag");
  EXPECT_EQ(back.sha256, part.sha256);
  part = {1,
          "\x0a"
          "front vhdxetag",
          std::string(32, '\x01')};  // the same text in a ref without marks
  back = open_part_ref(kKey, "upload-a", seal_part_ref(kKey, "upload-a", part)).value();
  EXPECT_EQ(back.marks, "");
  EXPECT_EQ(back.store_ref, part.store_ref);
}

}  // namespace
}  // namespace dash::storage
