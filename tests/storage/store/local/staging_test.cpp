// Replaces a file where the tree cannot do it in one step (an SMB share): wherever a crash happens, the next
// process that opens the store finds the old content or the new one, whole, and nothing beside it.
#include "core/storage/store/local/staging.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/storage/store/local/file_store.hpp"
#include "core/storage/store/local/folder_tree.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::storage::local {
namespace {

// A share: its rename() over a file deletes that one first. Ends, for good, at the call that a test names.
class CrashingShare final : public FileTree {
 public:
  CrashingShare(const std::string& root, int crash_at)
      : tree_(must(open_folder_tree(root, nullptr))), left_(crash_at) {}
  std::string place() const override { return tree_->place(); }
  bool replaces_in_one_step() const override { return false; }
  Result<FileEntry> stat(const std::string& path) override {
    TRY(step());
    return tree_->stat(path);
  }
  Result<std::vector<FileEntry>> list(const std::string& folder) override {
    TRY(step());
    return tree_->list(folder);
  }
  Result<std::size_t> read(const std::string& path, std::uint64_t offset, std::string_view must_match,
                           std::span<char> out) override {
    TRY(step());
    return tree_->read(path, offset, must_match, out);
  }
  Result<void> write(const std::string& path, std::uint64_t offset, std::string_view bytes) override {
    if (auto alive = step(); !alive) {
      if (std::exchange(may_tear_, false))
        (void)tree_->write(path, offset, bytes.substr(0, bytes.size() / 2));
      return alive;
    }
    return tree_->write(path, offset, bytes);
  }
  Result<void> make_folder(const std::string& path) override {
    TRY(step());
    return tree_->make_folder(path);
  }
  Result<void> rename(const std::string& from, const std::string& to, bool may_replace) override {
    TRY(step());
    if (may_replace && tree_->stat(to)) {
      TRY(tree_->remove(to));
      TRY(step());
    }
    return tree_->rename(from, to, may_replace);
  }
  Result<void> remove(const std::string& file) override {
    TRY(step());
    return tree_->remove(file);
  }
  Result<void> remove_folder(const std::string& folder) override {
    TRY(step());
    return tree_->remove_folder(folder);
  }
  bool has_crashed() const { return left_ < 0; }

 private:
  Result<void> step() {
    if (--left_ >= 0) return {};
    left_ = -1;
    return fail(Code::unreachable, "the process is gone");
  }
  std::unique_ptr<FileTree> tree_;
  int left_;
  bool may_tear_ = true;
};

// A folder that fails to give a name to what is not on the disk yet.
class UnsyncedFolder final : public FileTree {
 public:
  explicit UnsyncedFolder(const std::string& root) : tree_(must(open_folder_tree(root, nullptr))) {}
  std::string place() const override { return tree_->place(); }
  Result<FileEntry> stat(const std::string& path) override { return tree_->stat(path); }
  Result<std::vector<FileEntry>> list(const std::string& folder) override { return tree_->list(folder); }
  Result<std::size_t> read(const std::string& path, std::uint64_t offset, std::string_view must_match,
                           std::span<char> out) override {
    return tree_->read(path, offset, must_match, out);
  }
  Result<void> write(const std::string& path, std::uint64_t offset, std::string_view bytes) override {
    return tree_->write(path, offset, bytes);
  }
  Result<void> write_unsynced(const std::string& path, std::uint64_t offset,
                              std::string_view bytes) override {
    unsynced_.insert(path);
    ++unsynced_writes;
    return tree_->write_unsynced(path, offset, bytes);
  }
  Result<void> sync(const std::string& path) override {
    unsynced_.erase(path);
    return tree_->sync(path);
  }
  Result<void> make_folder(const std::string& path) override { return tree_->make_folder(path); }
  Result<void> rename(const std::string& from, const std::string& to, bool may_replace) override {
    if (unsynced_.contains(from)) return fail(Code::internal, "'{}' is not on the disk yet", from);
    return tree_->rename(from, to, may_replace);
  }
  Result<void> remove(const std::string& file) override { return tree_->remove(file); }
  Result<void> remove_folder(const std::string& folder) override { return tree_->remove_folder(folder); }
  int unsynced_writes = 0;

 private:
  std::unique_ptr<FileTree> tree_;
  std::set<std::string> unsynced_;
};

struct Outcome {
  bool is_acknowledged;
  bool has_crashed;
  std::string content;
};

using Replace = std::function<Result<Object>(ObjectStore&)>;

Outcome replace_and_crash_at(int call, const Replace& replace) {
  Scratch scratch;
  FakeClock clock;
  auto root = scratch / "root";
  {
    auto first = make_file_store(std::make_unique<CrashingShare>(root, 1 << 20), clock);
    must(first->put("dir/a.yml", "old content", {}));
  }
  auto share = std::make_unique<CrashingShare>(root, call);
  auto* watched = share.get();
  auto dying = make_file_store(std::move(share), clock);
  auto made = replace(*dying);
  auto crashed = watched->has_crashed();
  auto next = make_file_store(std::make_unique<CrashingShare>(root, 1 << 20), clock);
  auto listed = must(next->list("", "")).objects;
  EXPECT_EQ(listed.size(), 1u) << "crash at call " << call;
  std::string content(100, '\0');
  content.resize(must(next->read("dir/a.yml", 0, "", content)));
  EXPECT_EQ(listed[0].size, content.size());
  must(next->put("dir/a.yml", "after", {}));
  EXPECT_EQ(must(next->head("dir/a.yml")).size, 5u);
  return {made.has_value(), crashed, content};
}

void old_or_new_wherever_it_crashes(const Replace& replace) {
  for (int call = 0;; ++call) {
    auto outcome = replace_and_crash_at(call, replace);
    if (outcome.is_acknowledged) {
      EXPECT_EQ(outcome.content, "new") << "crash at call " << call;
    } else {
      EXPECT_TRUE(outcome.content == "old content" || outcome.content == "new")
          << "crash at call " << call << ": " << outcome.content;
    }
    if (!outcome.has_crashed) break;
    ASSERT_LT(call, 100);
  }
}

}  // namespace

TEST(ShareReplacement, OfAPutLosesNeitherTheOldNorTheNew) {
  old_or_new_wherever_it_crashes([](ObjectStore& store) { return store.put("dir/a.yml", "new", {}); });
}

TEST(ShareReplacement, OfACommitLosesNeitherTheOldNorTheNew) {
  old_or_new_wherever_it_crashes([](ObjectStore& store) -> Result<Object> {
    auto upload = TRY(store.begin("dir/a.yml", 3));
    TRY(store.put_part(upload, 1, "new", true));
    return store.commit(upload, TRY(store.staged_parts(upload)), {});
  });
}

TEST(ShareReplacement, OfAnUploadAtOnceLosesNeitherTheOldNorTheNew) {
  old_or_new_wherever_it_crashes([](ObjectStore& store) -> Result<Object> {
    auto upload = TRY(store.begin_at_once("dir/a.yml", 3));
    TRY(store.put_part(upload, 1, "new", true));
    return store.commit(upload, {{1, 3, ""}}, {});
  });
}

TEST(UploadAtOnce, IsOnTheDiskBeforeItHasItsName) {
  Scratch scratch;
  FakeClock clock;
  auto folder = std::make_unique<UnsyncedFolder>(scratch / "root");
  auto* watched = folder.get();
  auto store = make_file_store(std::move(folder), clock);
  auto upload = must(store->begin_at_once("a.yml", 3));
  must(store->put_part(upload, 1, "new", true));
  EXPECT_GT(watched->unsynced_writes, 0);
  EXPECT_EQ(must(store->commit(upload, {{1, 3, ""}}, {})).size, 3u);
}

TEST(ShareReplacement, AFailureIsMendedByTheSameProcessToo) {
  Scratch scratch;
  FakeClock clock;
  auto root = scratch / "root";
  auto store = make_file_store(std::make_unique<CrashingShare>(root, 1 << 20), clock);
  must(store->put("a.yml", "old", {}));
  must(must(open_folder_tree(root, nullptr))
           ->make_folder("b.yml/x"));  // a folder has the name: the rename fails
  EXPECT_FALSE(store->put("b.yml", "new", {}));
  EXPECT_EQ(must(store->head("a.yml")).size, 3u);
  EXPECT_EQ(must(must(open_folder_tree(root, nullptr))->stat("b.yml")).kind, FileKind::folder);
}

}  // namespace dash::storage::local
