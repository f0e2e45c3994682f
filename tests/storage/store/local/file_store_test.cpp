// What a folder needs beyond the contract: nothing outside of it is reached, nothing hidden is shown.
#include "core/storage/store/local/file_store.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/base/buffer_pool.hpp"
#include "core/storage/store/local/folder_tree.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/sweep_store.hpp"

namespace dash::storage::local {
namespace {

namespace fs = std::filesystem;

class FolderStore : public testing::Test {
 protected:
  std::string root() const { return scratch_ / "root"; }
  std::string at(std::string_view name) const { return root() + "/" + std::string(name); }
  void make(std::string_view name, std::string_view text) {
    fs::create_directories(fs::path(at(name)).parent_path());
    std::ofstream(at(name)) << text;
  }
  std::vector<std::string> listed(std::string_view prefix = "") {
    std::vector<std::string> names;
    for (const auto& object : must(store_->list(prefix, "")).objects) names.push_back(object.key);
    return names;
  }
  std::size_t staged_entries() {
    auto folder = at(kStagingFolder);
    return fs::exists(folder) ? static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}))
                              : 0;
  }
  Scratch scratch_;
  SystemClock clock_;
  std::unique_ptr<ObjectStore> store_ = make_file_store(must(open_folder_tree(root(), nullptr)), clock_);
  std::string out_ = std::string(64, '\0');
};

TEST_F(FolderStore, ListsRegularFilesAloneAndNothingHidden) {
  make("a.yml", "1");
  make("sub/b.sh", "2");
  make(".hidden.yml", "3");
  make(".git/c.yml", "4");
  make("sub/.d.yml", "5");
  fs::create_symlink("/etc/passwd", at("link.yml"));
  ::mkfifo(at("pipe.yml").c_str(), 0600);
  EXPECT_EQ(listed(), (std::vector<std::string>{"a.yml", "sub/b.sh"}));
  EXPECT_EQ(listed("su"), std::vector<std::string>{"sub/b.sh"});
  EXPECT_EQ(listed("sub/b"), std::vector<std::string>{"sub/b.sh"});
  EXPECT_TRUE(listed("absent/").empty());
}

TEST_F(FolderStore, NeverFollowsALinkOutOfTheRoot) {
  make("a.yml", "1");
  std::ofstream(scratch_ / "secret.yml") << "secret";
  fs::create_symlink(scratch_ / "secret.yml", at("link.yml"));
  fs::create_directory_symlink(scratch_.path(), at("up"));
  for (std::string key : {"link.yml", "up/secret.yml"}) {
    EXPECT_EQ(store_->read(key, 0, "", out_).error().code, Code::not_found) << key;
    EXPECT_EQ(store_->head(key).error().code, Code::not_found) << key;
    EXPECT_EQ(store_->remove(key).error().code, Code::not_found) << key;
  }
  EXPECT_FALSE(store_->put("up/new.yml", "x", {}));
  EXPECT_FALSE(fs::exists(scratch_ / "new.yml"));
  must(store_->put("link.yml", "mine", {}));  // the link is replaced, not written through
  EXPECT_EQ(must(store_->head("link.yml")).size, 4u);
  EXPECT_EQ(fs::file_size(scratch_ / "secret.yml"), 6u);
}

TEST_F(FolderStore, RefusesHiddenNamesEverywhere) {
  for (std::string key : {".x.yml", "a/.x.yml", ".dashctl-uploads/x.yml"}) {
    EXPECT_EQ(store_->put(key, "x", {}).error().code, Code::invalid) << key;
    EXPECT_EQ(store_->read(key, 0, "", out_).error().code, Code::invalid) << key;
  }
}

TEST_F(FolderStore, MakesTheRootAtTheFirstWriteButTellsThatItIsAbsentBefore) {
  auto error = store_->list("", "").error();
  EXPECT_EQ(error.code, Code::upstream);
  EXPECT_NE(error.message.find("storage_local_path"), std::string::npos);
  must(store_->put("a.yml", "x", {}));
  EXPECT_EQ(listed(), std::vector<std::string>{"a.yml"});
}

TEST_F(FolderStore, LeavesNoStagingBehindAFailedWrite) {
  make("dir.yml/inside.yml", "x");  // a folder in the place of the file
  EXPECT_FALSE(store_->put("dir.yml", "x", {}));
  EXPECT_EQ(staged_entries(), 0u);
}

TEST_F(FolderStore, CommitRefusesDataThatIsNotTheParts) {
  auto upload = must(store_->begin("a.deb", std::nullopt));
  must(store_->put_part(upload, 1, "abc", true));
  EXPECT_EQ(store_->commit(upload, {{1, 9, ""}}, {}).error().code, Code::integrity);
  EXPECT_TRUE(listed().empty());
}

TEST_F(FolderStore, KeepsAnUploadAtOnceInOneFileAndNothingBehindIt) {
  std::string first(kPartBytes, 'a');
  auto upload = must(store_->begin_at_once("sub/a.deb", kPartBytes + 3));
  must(store_->put_part(upload, 2, "xyz", true));
  must(store_->put_part(upload, 1, first, false));
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(staged_entries(), 1u);
  std::vector<StagedPart> parts{{1, kPartBytes, ""}, {2, 3, ""}};
  auto made = must(store_->commit(upload, parts, {.digest = "", .only_if_absent = true}));
  EXPECT_EQ(made.size, kPartBytes + 3);
  EXPECT_EQ(made.etag, must(store_->head("sub/a.deb")).etag);
  EXPECT_EQ(staged_entries(), 0u);
  std::string content(kPartBytes + 3, '\0');
  EXPECT_EQ(must(store_->read("sub/a.deb", 0, made.etag, content)), content.size());
  EXPECT_TRUE(content == first + "xyz");
}

TEST_F(FolderStore, RefusesToCommitAnUploadAtOnceThatIsShortTakenOrGone) {
  make("taken.deb", "old");
  auto upload = must(store_->begin_at_once("taken.deb", 3));
  must(store_->put_part(upload, 1, "abc", true));
  EXPECT_EQ(store_->commit(upload, {{1, 9, ""}}, {}).error().code, Code::integrity);
  EXPECT_EQ(store_->commit(upload, {{1, 3, ""}}, {.digest = "", .only_if_absent = true}).error().code,
            Code::conflict);
  EXPECT_EQ(must(store_->head("taken.deb")).size, 3u);
  must(store_->abort(upload));
  EXPECT_EQ(staged_entries(), 0u);
  EXPECT_EQ(store_->put_part(upload, 1, "abc", true).error().code, Code::not_found);
  EXPECT_EQ(store_->commit(upload, {{1, 3, ""}}, {}).error().code, Code::not_found);
  EXPECT_EQ(store_->abort(upload).error().code, Code::not_found);
}

TEST_F(FolderStore, SweepsAnUploadAtOnceThatACrashLeft) {
  must(store_->begin_at_once("a.deb", 3));
  auto later = std::chrono::system_clock::now() + std::chrono::hours(1);
  EXPECT_EQ(must(sweep_store(*store_, kStagingPrefix, later)), 1u);
  EXPECT_EQ(staged_entries(), 0u);
}

TEST_F(FolderStore, SweepsWhatACrashLeft) {
  auto upload = must(store_->begin("a.deb", std::nullopt));
  must(store_->put_part(upload, 1, "abc", true));
  EXPECT_EQ(must(sweep_store(*store_, kStagingPrefix, Time{})), 0u);
  EXPECT_EQ(
      must(sweep_store(*store_, kStagingPrefix, std::chrono::system_clock::now() + std::chrono::hours(1))),
      1u);
  EXPECT_EQ(staged_entries(), 0u);
  EXPECT_EQ(store_->put_part(upload, 1, "abc", true).error().code, Code::not_found);
}

TEST_F(FolderStore, DropsUploadsOfAClockThatWasAYearAheadAndKeepsThoseOfNow) {
  constexpr auto kYear = std::chrono::hours(24 * 365);
  auto upload = must(store_->begin("a.deb", std::nullopt));
  must(store_->put_part(upload, 1, "abc", true));
  must(store_->begin("b.deb", std::nullopt));
  EXPECT_EQ(staged_entries(), 2u);
  for (const auto& entry : fs::directory_iterator(at(kStagingFolder)))
    fs::last_write_time(entry, fs::file_time_type::clock::now() + kYear);
  EXPECT_EQ(must(sweep_store(*store_, kStagingPrefix, Time{})), 2u);
  auto kept = must(store_->begin("c.deb", std::nullopt));
  must(store_->begin("d.deb", std::nullopt));
  must(store_->put_part(kept, 1, "abc", true));
  EXPECT_EQ(must(store_->commit(kept, {{1, 3, ""}}, {})).size, 3u);
}

TEST_F(FolderStore, TellsWhatStandsInThePlaceOfAnObject) {
  make("dir.yml/inside.yml", "x");
  make("file.yml", "x");
  fs::create_symlink(at("file.yml"), at("link.yml"));
  fs::create_symlink("/nowhere/at/all", at("dangling.yml"));
  auto folder = store_->check_target("dir.yml").error();
  EXPECT_EQ(folder.code, Code::invalid);
  EXPECT_NE(folder.message.find("folder"), std::string::npos);
  for (auto name : {"link.yml", "dangling.yml"}) {
    auto refused = store_->check_target(name).error();
    EXPECT_EQ(refused.code, Code::invalid) << name;
    EXPECT_NE(refused.message.find("link"), std::string::npos) << refused.message;
  }
  must(store_->check_target("file.yml"));
  must(store_->check_target("absent.yml"));
  must(store_->check_target("sub/absent.yml"));
}

TEST_F(FolderStore, AForgedUploadNamesNoOtherFolder) {
  make("keep.yml", "x");
  for (std::string id : {"..", "../keep.yml", ""})
    EXPECT_EQ(store_->abort(R"({"key":"a","id":")" + id + "\"}").error().code, Code::invalid);
  EXPECT_EQ(listed(), std::vector<std::string>{"keep.yml"});
}

// Has no memory to lend; takes pieces in order only.
class AppendingWriter final : public RandomWriter {
 public:
  Result<void> write(std::uint64_t offset, std::string_view bytes) override {
    if (offset != text.size()) return fail(Code::internal, "not in order");
    if (text.size() + bytes.size() > max_bytes) return fail(Code::internal, "the disk is full");
    text += bytes;
    return {};
  }
  std::string text;
  std::size_t max_bytes = SIZE_MAX;
};

TEST_F(FolderStore, ReadsARangeIntoAWriterWithoutMemoryPieceByPiece) {
  std::string content(700'000, 'x');
  for (std::size_t i = 0; i < content.size(); i += 11) content[i] = static_cast<char>('a' + i % 26);
  make("a.yml", content);
  for (ByteRange range : {ByteRange{0, 700'000}, ByteRange{5, 600'000}, ByteRange{699'990, 100}}) {
    AppendingWriter out;
    auto size = must(store_->read("a.yml", range, "", out));
    EXPECT_EQ(size, std::min<std::uint64_t>(range.size, content.size() - range.offset));
    EXPECT_TRUE(out.text == content.substr(range.offset, range.size)) << range.offset;
  }
  AppendingWriter full;
  full.max_bytes = 300'000;
  EXPECT_EQ(store_->read("a.yml", {0, 700'000}, "", full).error().message, "the disk is full");
}

TEST_F(FolderStore, WantsAnAbsolutePath) {
  RootRules rules({});
  EXPECT_EQ(open_folder_tree("assets", &rules).error().code, Code::invalid);
}

}  // namespace
}  // namespace dash::storage::local
