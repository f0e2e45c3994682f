// A folder that cares for case, made one that does not.
#include "core/storage/store/local/exact_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/storage/store/local/file_store.hpp"
#include "core/storage/store/local/folder_tree.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::storage::local {
namespace {

class FoldingTree final : public FileTree {
 public:
  explicit FoldingTree(const std::string& root) : tree_(must(open_folder_tree(root, nullptr))) {}
  std::string place() const override { return tree_->place(); }
  Result<FileEntry> stat(const std::string& path) override { return tree_->stat(own(path)); }
  Result<std::vector<FileEntry>> list(const std::string& folder) override { return tree_->list(own(folder)); }
  Result<std::size_t> read(const std::string& path, std::uint64_t offset, std::string_view must_match,
                           std::span<char> out) override {
    return tree_->read(own(path), offset, must_match, out);
  }
  Result<void> write(const std::string& path, std::uint64_t offset, std::string_view bytes) override {
    return tree_->write(own(path), offset, bytes);
  }
  Result<void> make_folder(const std::string& path) override { return tree_->make_folder(own(path)); }
  Result<void> rename(const std::string& from, const std::string& to, bool may_replace) override {
    return tree_->rename(own(from), own(to), may_replace);
  }
  Result<void> remove(const std::string& file) override { return tree_->remove(own(file)); }
  Result<void> remove_folder(const std::string& folder) override { return tree_->remove_folder(own(folder)); }

 private:
  // The path in the spelling of the existing file; a missing one stays as it was given.
  std::string own(const std::string& path) {
    if (path.empty()) return path;
    auto parent = own(parent_of(path));
    auto name = path.substr(path.rfind('/') + 1);
    if (auto siblings = tree_->list(parent))
      for (const auto& entry : *siblings)
        if (lower(entry.name) == lower(name)) name = entry.name;
    return parent.empty() ? name : parent + "/" + name;
  }
  std::unique_ptr<FileTree> tree_;
};

class ExactTree : public testing::Test {
 protected:
  std::string content(const std::string& key) {
    std::string out(16, '\0');
    out.resize(must(store_->read(key, 0, "", out)));
    return out;
  }
  Scratch scratch_;
  FakeClock clock_;
  std::unique_ptr<ObjectStore> store_ =
      make_file_store(std::make_unique<FoldingTree>(scratch_ / "root"), clock_);
};

TEST_F(ExactTree, AFileIsThereByItsOwnSpellingAlone) {
  must(store_->put("web.yml", "kept", {}));
  must(store_->put("folder/in.yml", "kept", {}));
  for (std::string other : {"WEB.yml", "web.ymL", "FOLDER/in.yml", "folder/In.yml"}) {
    EXPECT_EQ(store_->head(other).error().code, Code::not_found) << other;
    EXPECT_EQ(store_->remove(other).error().code, Code::not_found) << other;
  }
  EXPECT_EQ(content("web.yml"), "kept");
  must(store_->put("web.yml", "new", {}));
  must(store_->remove("folder/in.yml"));
  EXPECT_EQ(content("web.yml"), "new");
}

TEST_F(ExactTree, NothingIsPutOverAFileOfAnotherSpelling) {
  must(store_->put("web.yml", "kept", {}));
  must(store_->put("folder/in.yml", "kept", {}));
  for (std::string other : {"WEB.yml", "FOLDER/in.yml", "FOLDER/new.yml"}) {
    auto refused = store_->put(other, "stolen", {});
    ASSERT_FALSE(refused) << other;
    EXPECT_EQ(refused.error().code, Code::conflict) << refused.error().message;
  }
  auto upload = must(store_->begin("WEB.yml", 6));
  must(store_->put_part(upload, 1, "stolen", true));
  EXPECT_EQ(store_->commit(upload, must(store_->staged_parts(upload)), {}).error().code, Code::conflict);
  EXPECT_EQ(content("web.yml") + content("folder/in.yml"), "keptkept");
  EXPECT_EQ(must(store_->list("", "")).objects.size(), 2u);
}

TEST_F(ExactTree, ANameWithoutALetterIsFoundAsWell) {
  must(store_->put("\u65e5\u672c", "x", {}));
  EXPECT_EQ(must(store_->head("\u65e5\u672c")).size, 1u);
  EXPECT_EQ(store_->head("\u65e5").error().code, Code::not_found);
}

TEST(ExactTreeOnAFolderThatCares, TwoSpellingsAreTwoFiles) {
  Scratch scratch;
  FakeClock clock;
  auto store = make_file_store(must(open_folder_tree(scratch / "root", nullptr)), clock);
  must(store->put("a.yml", "1", {}));
  must(store->put("A.yml", "22", {}));
  EXPECT_EQ(must(store->head("a.yml")).size, 1u);
  EXPECT_EQ(must(store->head("A.yml")).size, 2u);
  EXPECT_EQ(store->head("a.YML").error().code, Code::not_found);
}

}  // namespace
}  // namespace dash::storage::local
