#include "core/storage/store/local/exact_tree.hpp"

#include <algorithm>
#include <optional>

namespace dash::storage::local {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Returns the path with the case of one letter of its last segment changed; nullopt when it has no letter.
std::optional<std::string> other_case(const std::string& path) {
  auto letter =
      std::ranges::find_if(path.rbegin(), path.rend(), [](char c) { return is_letter(c) || c == '/'; });
  if (letter == path.rend() || *letter == '/') return std::nullopt;
  auto other = path;
  other[static_cast<std::size_t>(path.rend() - letter) - 1] ^= 'a' ^ 'A';
  return other;
}

class ExactTree final : public FileTree {
 public:
  explicit ExactTree(std::unique_ptr<FileTree> tree) : tree_(std::move(tree)) {}

  std::string place() const override { return tree_->place(); }
  Result<FileEntry> stat(const std::string& path) override {
    auto entry = TRY(tree_->stat(path));
    if (TRY(has_exact_spelling(path, entry))) return entry;
    return fail(Code::not_found, "there is no file '{}'", path);
  }
  Result<std::vector<FileEntry>> list(const std::string& folder) override { return tree_->list(folder); }
  Result<void> visit(const std::string& folder, const Wants& wants, const Take& take) override {
    return tree_->visit(folder, wants, take);
  }
  Result<std::size_t> read(const std::string& path, std::uint64_t offset, std::string_view must_match,
                           std::span<char> out) override {
    return tree_->read(path, offset, must_match, out);
  }
  Result<void> write(const std::string& path, std::uint64_t offset, std::string_view bytes) override {
    return tree_->write(path, offset, bytes);
  }
  Result<void> write_unsynced(const std::string& path, std::uint64_t offset,
                              std::string_view bytes) override {
    return tree_->write_unsynced(path, offset, bytes);
  }
  Result<void> sync(const std::string& path) override { return tree_->sync(path); }
  bool replaces_in_one_step() const override { return tree_->replaces_in_one_step(); }
  Result<void> make_folder(const std::string& path) override { return tree_->make_folder(path); }
  Result<void> rename(const std::string& from, const std::string& to, bool may_replace) override {
    TRY(require_free_or_same(to));
    return tree_->rename(from, to, may_replace);
  }
  Result<void> remove(const std::string& file) override { return tree_->remove(file); }
  Result<void> remove_folder(const std::string& empty_folder) override {
    return tree_->remove_folder(empty_folder);
  }

 private:
  // Checks the spelling of what `path` would replace, or of its folder.
  Result<void> require_free_or_same(const std::string& path) {
    auto existing = tree_->stat(path);
    if (!existing && existing.error().code != Code::not_found) return Failure(std::move(existing).error());
    auto parent = parent_of(path);
    if (!existing && parent.empty()) return {};
    auto is_same =
        existing ? has_exact_spelling(path, *existing) : has_exact_spelling(parent, TRY(tree_->stat(parent)));
    if (TRY(std::move(is_same))) return {};
    return fail(Code::conflict,
                "{} takes '{}' for a name that is there in another spelling; upload it under another name",
                tree_->place(), path);
  }

  // Lists folders only where another case leads to the same entry: elsewhere no other spelling does.
  Result<bool> has_exact_spelling(const std::string& path, const FileEntry& entry) {
    if (path.empty() || path.starts_with('.')) return true;
    if (auto other = other_case(path)) {
      auto twin = tree_->stat(*other);
      if (!twin && twin.error().code == Code::not_found) return true;
      if (TRY(std::move(twin)).version != entry.version) return true;
    }
    for (std::size_t at = 0; at < path.size();) {
      auto end = std::min(path.find('/', at), path.size());
      auto name = path.substr(at, end - at);
      auto siblings = TRY(tree_->list(at == 0 ? "" : path.substr(0, at - 1)));
      if (std::ranges::find(siblings, name, &FileEntry::name) == siblings.end()) return false;
      at = end + 1;
    }
    return true;
  }

  std::unique_ptr<FileTree> tree_;
};

}  // namespace

std::unique_ptr<FileTree> make_exact_tree(std::unique_ptr<FileTree> tree) {
  return std::make_unique<ExactTree>(std::move(tree));
}

}  // namespace dash::storage::local
