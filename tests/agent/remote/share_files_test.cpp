#include "core/agent/remote/share_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/agent/protocol/documents.hpp"
#include "core/base/file.hpp"
#include "core/crypto/hash.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::agent {
namespace {

class ShareOfFiles : public ::testing::Test {
 protected:
  ShareOfFiles() { std::filesystem::create_directory(share_.path); }
  void put(const std::string& name, std::string_view text) {
    must(write_file(share_.path + "/" + name, text, 0644));
  }
  static StorageJob job(StorageOp op, std::string name, std::string content = "") {
    return {op, "lab", "", std::move(name), std::move(content)};
  }
  Scratch scratch_;
  FakeClock clock_;
  const storage::local::RootRules rules_{{}};
  const ShareDeps deps_{clock_, rules_, "/proc/self/exe"};
  const Share share_{"lab", scratch_ / "lab"};
  ShareFiles files_{share_, Secret(), deps_};
};

TEST_F(ShareOfFiles, ListsAcceptedFilesOfOneFolder) {
  put("b.yml", "12");
  put("a.sh", "1");
  put("c.txt", "1");
  put(".hidden.yml", "1");
  put("spaced name.yml", "1");
  std::filesystem::create_directory(share_.path + "/sub.yml");
  std::filesystem::create_symlink(share_.path + "/b.yml", share_.path + "/link.yml");
  auto listed = must(files_.list("", std::nullopt));
  ASSERT_EQ(listed.files.size(), 2u);
  EXPECT_EQ(listed.files[0].name, "a.sh");
  EXPECT_EQ(listed.files[1].size, 2u);
  EXPECT_FALSE(listed.files[1].etag.empty());
  EXPECT_TRUE(must(files_.list("nothing/here", std::nullopt)).files.empty());
}

TEST_F(ShareOfFiles, GivesPagesThatFitIntoAResult) {
  for (int i = 0; i < 4000; ++i) put(fmt::format("{:04}-{}.yml", i, std::string(60, 'x')), "");
  auto whole = files_.list("", std::nullopt);
  EXPECT_EQ(whole.error().code, Code::too_large);
  std::size_t count = 0;
  std::string cursor;
  do {
    auto page = must(files_.list("", cursor));
    EXPECT_LE(dump_json(to_json(page)).size(), kMaxResultBytes);
    ASSERT_FALSE(page.files.empty());
    count += page.files.size();
    cursor = page.cursor;
  } while (!cursor.empty());
  EXPECT_EQ(count, 4000u);
}

TEST_F(ShareOfFiles, LeavesEtagsOutRatherThanFilesForWhoAsksForNoPage) {
  for (int i = 0; i < 2000; ++i) put(fmt::format("{:04}-{}.yml", i, std::string(50, 'x')), "");
  auto whole = must(files_.list("", std::nullopt));
  EXPECT_EQ(whole.files.size(), 2000u);
  EXPECT_TRUE(whole.files[0].etag.empty());
  EXPECT_LE(dump_json(to_json(whole)).size(), kMaxResultBytes);
}

TEST_F(ShareOfFiles, ReadsAFileWholeOrInRanges) {
  put("a.yml", "0123456789");
  auto whole = must(files_.fetch(job(StorageOp::fetch, "a.yml")));
  EXPECT_EQ(whole.content, "0123456789");
  auto range = job(StorageOp::fetch, "a.yml");
  range.offset = 8, range.length = 5;
  EXPECT_EQ(must(files_.fetch(range)).content, "89");
  EXPECT_EQ(must(files_.fetch(range)).size, 10u);
  range.offset = 11;
  EXPECT_EQ(must(files_.fetch(range)).content, "");
  range.offset = 0, range.length = 0;
  EXPECT_EQ(must(files_.fetch(range)).etag, whole.etag);
  put("big.yml", std::string(kMaxReadBytes + 1, 'x'));
  EXPECT_EQ(files_.fetch(job(StorageOp::fetch, "big.yml")).error().code, Code::too_large);
  EXPECT_EQ(files_.fetch(job(StorageOp::fetch, "none.yml")).error().code, Code::not_found);
}

TEST_F(ShareOfFiles, WritesAndRemovesBeneathASubpath) {
  auto upload = job(StorageOp::upload, "a.yml", "new");
  upload.subpath = "x/y";
  EXPECT_EQ(must(files_.upload(upload)).size, 3u);
  EXPECT_EQ(must(read_file(share_.path + "/x/y/a.yml", 10)), "new");
  auto removal = job(StorageOp::remove, "a.yml");
  removal.subpath = "x/y";
  EXPECT_TRUE(must(files_.remove(removal)).existed);
  EXPECT_FALSE(must(files_.remove(removal)).existed);
  EXPECT_EQ(files_.upload(job(StorageOp::upload, "a.exe", "x")).error().code, Code::invalid);
}

TEST_F(ShareOfFiles, NamesTheShareAndNotItsPath) {
  std::filesystem::remove(share_.path);
  for (const auto& error :
       {files_.list("", std::nullopt).error(), files_.upload(job(StorageOp::upload, "a.yml")).error()}) {
    EXPECT_NE(error.message.find("'lab'"), std::string::npos) << error.message;
    EXPECT_EQ(error.message.find(scratch_.path()), std::string::npos) << error.message;
  }
  EXPECT_FALSE(std::filesystem::exists(share_.path));
}

TEST_F(ShareOfFiles, RefusesFoldersThatNoShareMayHave) {
  storage::local::RootOptions options;
  options.secret_files = {scratch_ / "lab/shares.yaml"};
  const storage::local::RootRules rules(options);
  ShareDeps deps{clock_, rules, "/proc/self/exe"};
  ShareFiles files(share_, Secret(), deps);
  auto error = files.list("", std::nullopt).error();
  EXPECT_EQ(error.message.find(scratch_.path()), std::string::npos) << error.message;
}

}  // namespace
}  // namespace dash::agent
