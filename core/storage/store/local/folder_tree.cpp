#include "core/storage/store/local/folder_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>

#include "core/base/direct_write.hpp"
#include "core/base/fd.hpp"
#include "core/base/file.hpp"

namespace dash::storage::local {
namespace {

constexpr unsigned kFolderMode = 0750;
constexpr unsigned kFileMode = 0640;

Code code_of(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:  // a symbolic link in the path, and
    case EXDEV:  // a path that leaves the root: never shown
      return Code::not_found;
    case EEXIST:
      return Code::conflict;
    case ENAMETOOLONG:
    case EISDIR:
      return Code::invalid;
    default:
      return Code::upstream;  // permissions, a full or broken disk
  }
}

Failure os_error(std::string_view what, std::string_view path) {
  auto number = errno;
  return fail(code_of(number), "cannot {} '{}': {}", what, path, std::strerror(number));
}

// The inode survives a rename.
FileEntry to_entry(std::string name, const struct stat& st) {
  auto entry = entry_of_stat(std::move(name), st);
  entry.version += fmt::format("-{:x}", st.st_ino);
  return entry;
}

FileKind kind_of_type(unsigned char type) {
  if (type == DT_DIR) return FileKind::folder;
  return type == DT_REG ? FileKind::file : FileKind::other;
}

// The setting was accepted before; now the operator must repair it.
template <class T>
Result<T> invalid_as_upstream(Result<T> checked) {
  if (!checked && checked.error().code == Code::invalid) checked.error().code = Code::upstream;
  return checked;
}

// Returns false for what was removed meanwhile.
Result<bool> look_up(int folder, const std::string& name, struct stat& st) {
  if (::fstatat(folder, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno == ENOENT) return false;
  return os_error("look up", name);
}

struct SplitPath {
  std::string parent;
  std::string name;
};
SplitPath split_path(const std::string& path) {
  auto slash = path.rfind('/');
  if (slash == path.npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

class FolderTree final : public FileTree {
 public:
  FolderTree(std::string root, const RootRules* rules) : root_(std::move(root)), rules_(rules) {}

  std::string place() const override { return "file://" + root_; }

  Result<FileEntry> stat(const std::string& path) override {
    auto fd = TRY(open_beneath(path, O_PATH | O_NOFOLLOW));  // of a link, the link itself
    struct stat st {};
    if (::fstat(fd.get(), &st) != 0) return os_error("look up", path);
    return to_entry(split_path(path).name, st);
  }

  Result<std::vector<FileEntry>> list(const std::string& folder) override {
    std::vector<FileEntry> entries;
    TRY(visit(
        folder, [](std::string_view, FileKind) { return true; },
        [&](FileEntry entry) -> Result<void> {
          entries.push_back(std::move(entry));
          return {};
        }));
    return entries;
  }

  Result<void> visit(const std::string& folder, const Wants& wants, const Take& take) override {
    auto fd = TRY(open_beneath(folder, O_RDONLY | O_DIRECTORY));
    DIR* stream = ::fdopendir(fd.get());
    if (!stream) return os_error("list", folder);
    std::unique_ptr<DIR, int (*)(DIR*)> guard(stream, ::closedir);
    auto number = fd.release();
    for (;;) {
      errno = 0;
      auto* item = ::readdir(stream);
      if (!item && errno != 0) return os_error("list", folder);
      if (!item) return {};
      std::string name = item->d_name;
      if (name == "." || name == "..") continue;
      struct stat st {};
      bool is_known = item->d_type != DT_UNKNOWN;
      if (!is_known && !TRY(look_up(number, name, st))) continue;
      if (!wants(name, is_known ? kind_of_type(item->d_type) : to_entry("", st).kind)) continue;
      if (is_known && !TRY(look_up(number, name, st))) continue;
      TRY(take(to_entry(std::move(name), st)));
    }
  }

  Result<std::size_t> read(const std::string& path, std::uint64_t offset, std::string_view must_match,
                           std::span<char> out) override {
    auto fd = TRY(open_beneath(path, O_RDONLY | O_NONBLOCK));  // a pipe must not block
    struct stat st {};
    if (::fstat(fd.get(), &st) != 0) return os_error("read", path);
    if (!S_ISREG(st.st_mode)) return fail(Code::not_found, "there is no file '{}'", path);
    if (!must_match.empty() && to_entry("", st).version != must_match)
      return fail(Code::precondition, "'{}' is not the version that was requested", path);
    std::size_t done = 0;
    while (done < out.size()) {
      auto n = ::pread(fd.get(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return os_error("read", path);
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

  Result<void> write(const std::string& path, std::uint64_t offset, std::string_view bytes) override {
    auto fd = TRY(write_unsynced_file(path, offset, bytes));
    if (::fsync(fd.get()) != 0) return os_error("write", path);
    return {};
  }
  Result<void> write_unsynced(const std::string& path, std::uint64_t offset,
                              std::string_view bytes) override {
    TRY(write_unsynced_file(path, offset, bytes));
    return {};
  }
  Result<void> sync(const std::string& path) override {
    auto fd = TRY(open_beneath(path, O_WRONLY | O_NONBLOCK));
    if (::fsync(fd.get()) != 0) return os_error("write", path);
    return {};
  }

  Result<void> make_folder(const std::string& path) override {
    TRY(make_root());
    for (std::size_t at = 0; at <= path.size() && !path.empty();) {
      auto end = std::min(path.find('/', at), path.size());
      auto part = split_path(path.substr(0, end));
      auto parent = TRY(open_beneath(part.parent, O_RDONLY | O_DIRECTORY));
      if (::mkdirat(parent.get(), part.name.c_str(), kFolderMode) == 0)
        ::fsync(parent.get());
      else if (errno != EEXIST)
        return os_error("make the folder", path);
      at = end + 1;
    }
    return {};
  }

  Result<void> rename(const std::string& from, const std::string& to, bool may_replace) override {
    auto source = split_path(from);
    auto target = split_path(to);
    auto old_parent = TRY(open_beneath(source.parent, O_PATH | O_DIRECTORY));
    auto new_parent = TRY(open_beneath(target.parent, O_RDONLY | O_DIRECTORY));
    if (::renameat2(old_parent.get(), source.name.c_str(), new_parent.get(), target.name.c_str(),
                    may_replace ? 0 : RENAME_NOREPLACE) != 0)
      return os_error("write", to);
    if (::fsync(new_parent.get()) != 0) return os_error("write", to);
    return {};
  }

  Result<void> remove(const std::string& file) override { return unlink(file, 0); }
  Result<void> remove_folder(const std::string& empty_folder) override {
    return unlink(empty_folder, AT_REMOVEDIR);
  }

 private:
  Result<Fd> write_unsynced_file(const std::string& path, std::uint64_t offset, std::string_view bytes) {
    auto fd = TRY(open_beneath(path, O_WRONLY | O_CREAT | O_NONBLOCK, kFileMode));
    if (!DirectWriter(fd.get()).write(offset, bytes)) return os_error("write", path);
    return fd;
  }

  Result<void> unlink(const std::string& path, int flags) {
    auto part = split_path(path);
    auto parent = TRY(open_beneath(part.parent, O_RDONLY | O_DIRECTORY));
    if (::unlinkat(parent.get(), part.name.c_str(), flags) != 0) return os_error("delete", path);
    ::fsync(parent.get());
    return {};
  }

  Result<Fd> open_root() {
    Fd root(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (root.get() < 0) return os_error("open", root_);
    if (rules_) TRY(check_root(root.get()));
    return root;
  }

  // Once for each folder that the path leads to: a link or a mount may have changed.
  Result<void> check_root(int folder) {
    auto id = TRY(invalid_as_upstream(id_of(folder)));
    {
      std::lock_guard lock(mutex_);
      if (accepted_ == id) return {};
    }
    TRY(invalid_as_upstream(rules_->check_opened(folder, root_)));
    std::lock_guard lock(mutex_);
    accepted_ = id;
    return {};
  }

  Result<void> make_root() {
    auto root = open_root();
    if (root || root.error().code != Code::not_found) return root ? Result<void>() : Failure(root.error());
    if (rules_) TRY(invalid_as_upstream(rules_->check(root_)));
    return dash::make_folder(root_, kFolderMode);
  }

  Result<Fd> open_beneath(const std::string& path, int flags, unsigned mode = 0) {
    auto root = TRY(open_root());
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    for (;;) {
      auto fd = ::syscall(SYS_openat2, root.get(), path.empty() ? "." : path.c_str(), &how, sizeof how);
      if (fd >= 0) return Fd(static_cast<int>(fd));
      if (errno != EAGAIN && errno != EINTR)
        return os_error("open", path.empty() ? root_ : path);  // EAGAIN: a rename raced
    }
  }

  std::string root_;
  const RootRules* rules_;
  std::mutex mutex_;
  std::optional<FolderId> accepted_;
};

}  // namespace

Result<std::unique_ptr<FileTree>> open_folder_tree(const std::string& root, const RootRules* rules) {
  if (rules) TRY(rules->check(root));
  return std::make_unique<FolderTree>(root, rules);
}

}  // namespace dash::storage::local
