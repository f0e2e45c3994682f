#include "core/agent/protocol/storage_result.hpp"

#include <gtest/gtest.h>

#include "core/agent/protocol/documents.hpp"
#include "core/agent/protocol/storage_job.hpp"
#include "tests/support/must.hpp"

namespace dash::agent {
namespace {

TEST(StorageResult, CrossesTheWireWhole) {
  ListJobResult listing{{{"a.yml", 3, "e1"}, {"b.sh", 0}}, "b.sh"};
  EXPECT_EQ(to_json(must(read_list_result(to_json(listing)))), to_json(listing));
  FetchJobResult piece{std::string("by\0es", 5), 4096, "e2"};
  EXPECT_EQ(to_json(must(read_fetch_result(to_json(piece)))), to_json(piece));
  EXPECT_EQ(must(read_fetch_result(to_json(piece))).content, piece.content);
  UploadJobResult stored{196'608, "e3"};
  EXPECT_EQ(to_json(must(read_upload_result(to_json(stored)))), to_json(stored));
  RemoveJobResult gone{"a.yml", false};
  EXPECT_EQ(to_json(must(read_remove_result(to_json(gone)))), to_json(gone));
}

TEST(StorageResult, IsReadFromAnAgentThatHasOnlyTheDeployedMembers) {
  auto listing =
      must(read_list_result({{"assets", {{{"name", "a.yml"}, {"size", 3}}}}, {"audit_mode", false}}));
  ASSERT_EQ(listing.files.size(), 1u);
  EXPECT_EQ(listing.files[0].etag, "");
  EXPECT_EQ(listing.cursor, "");
  auto empty = must(read_fetch_result({{"content_b64", ""}}));
  EXPECT_EQ(empty.content, "");
  EXPECT_FALSE(empty.size);
  EXPECT_TRUE(must(read_remove_result({{"deleted", "a.yml"}})).existed);
}

TEST(StorageResult, LeavesOutFilesThatNoJobCouldName) {
  auto listing = must(read_list_result({{"assets",
                                         {{{"name", "../etc/passwd"}, {"size", 1}},
                                          {{"name", ".env"}, {"size", 1}},
                                          {{"name", "with space.yml"}, {"size", 1}},
                                          {{"name", "good.yml"}, {"size", 1}}}}}));
  ASSERT_EQ(listing.files.size(), 1u);
  EXPECT_EQ(listing.files[0].name, "good.yml");
}

TEST(StorageResult, RefusesWhatIsNoResult) {
  EXPECT_FALSE(read_list_result(Json::array()));
  EXPECT_FALSE(read_list_result({{"assets", "none"}}));
  EXPECT_FALSE(read_list_result({{"assets", {{{"name", "a.yml"}, {"size", -1}}}}}));
  EXPECT_FALSE(read_list_result({{"assets", {{{"name", "a.yml"}}}}}));
  EXPECT_FALSE(read_list_result({{"assets", {{{"name", "a.yml"}, {"size", 1}, {"etag", "x\ny"}}}}}));
  EXPECT_FALSE(read_fetch_result(Json::object()));
  EXPECT_FALSE(read_fetch_result({{"content_b64", "???"}}));
  EXPECT_FALSE(read_upload_result(Json::object()));
}

// What fits into a result is less than what fits into a job.
TEST(StorageResult, HoldsTheMostThatIsReadAtOnce) {
  FetchJobResult whole{std::string(kMaxReadBytes, 'x')};
  EXPECT_LE(dump_json(to_json(whole)).size(), kMaxResultBytes);
  FetchJobResult range{std::string(kRangeBytes, 'x'), kMaxContentBytes, std::string(128, 'e')};
  EXPECT_LE(dump_json(to_json(range)).size(), kMaxResultBytes);
}

}  // namespace
}  // namespace dash::agent
