// The interface of a tree of files, under FileStore: a folder of this machine (folder_tree.cpp) or an SMB
// share (smb/). Paths are relative to the root, '/' between segments, "" for the root. A path never leaves
// the root and never follows a symbolic link. Thread-safe. Errors: Code::not_found for what is absent.
#pragma once
#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"

namespace dash::storage::local {

enum class FileKind { file, folder, other };

struct FileEntry {
  std::string name;  // last segment
  FileKind kind = FileKind::other;
  std::uint64_t size = 0;
  Time modified;
  std::string version;  // changes with the content, survives a rename
};

// Its version is the size and the time of the last change.
FileEntry entry_of_stat(std::string name, const struct stat& st);

class FileTree {
 public:
  virtual ~FileTree() = default;
  // Returns "file:///srv/assets", for messages and to notice a change of settings.
  virtual std::string place() const = 0;

  virtual Result<FileEntry> stat(const std::string& path) = 0;
  virtual Result<std::vector<FileEntry>> list(const std::string& folder) = 0;
  // Calls `take` for each entry of the folder that `wants` asks for. A folder of this machine neither holds nor
  // looks up the others.
  using Wants = std::function<bool(std::string_view name, FileKind kind)>;
  using Take = std::function<Result<void>(FileEntry entry)>;
  virtual Result<void> visit(const std::string& folder, const Wants& wants, const Take& take) {
    for (auto& entry : TRY(list(folder)))
      if (wants(entry.name, entry.kind)) TRY(take(std::move(entry)));
    return {};
  }
  // Reads bytes from `offset` into the front of `out`, as many as there are. Code::precondition when the
  // file's version is not `must_match` (unless that is empty).
  virtual Result<std::size_t> read(const std::string& path, std::uint64_t offset, std::string_view must_match,
                                   std::span<char> out) = 0;
  // Makes the file when absent. The bytes are on the disk when this returns.
  virtual Result<void> write(const std::string& path, std::uint64_t offset, std::string_view bytes) = 0;
  // Like write(), but the bytes are on the disk only after sync().
  virtual Result<void> write_unsynced(const std::string& path, std::uint64_t offset, std::string_view bytes) {
    return write(path, offset, bytes);
  }
  virtual Result<void> sync(const std::string& /*path*/) { return {}; }
  // When false, a crash in a rename() that replaces leaves neither file under the name.
  virtual bool replaces_in_one_step() const { return true; }
  // Makes the folder and its parents, the root included. An existing one is no error.
  virtual Result<void> make_folder(const std::string& path) = 0;
  // Renames durably; atomic when `to` is absent. Code::conflict when it exists and may not be replaced.
  virtual Result<void> rename(const std::string& from, const std::string& to, bool may_replace) = 0;
  virtual Result<void> remove(const std::string& file) = 0;
  virtual Result<void> remove_folder(const std::string& empty_folder) = 0;
};

// Returns the parent of a path in a tree; "" for what is in the root.
inline std::string parent_of(std::string_view path) {
  auto slash = path.rfind('/');
  return std::string(slash == path.npos ? "" : path.substr(0, slash));
}

}  // namespace dash::storage::local
