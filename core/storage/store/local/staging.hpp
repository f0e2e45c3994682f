// The hidden folder in which uploads to a tree of files wait for their commit. Called by file_store.cpp.
#pragma once
#include <string>
#include <vector>

#include "core/storage/store/local/file_tree.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::local {

// An upload in progress as plain text: the key, and the folder's random name. One that need not outlive its process
// is a single file instead.
struct StagedUpload {
  std::string key;
  std::string id;  // 32 hex digits
  bool is_at_once = false;
};
std::string write_staged_upload(const StagedUpload& upload);
Result<StagedUpload> read_staged_upload(const std::string& text);

class Staging {
 public:
  explicit Staging(FileTree& tree) : tree_(tree) {}

  // Writes these bytes to a new file and returns its path. The caller places or removes it.
  Result<std::string> write_file(std::string_view bytes);
  // Renames the file at `path` to the key. Where a tree cannot replace in one step, the old file waits aside
  // meanwhile, with a note that names its key.
  Result<void> place(const std::string& path, const std::string& key, bool may_replace);
  // Restores old files that a crash left aside, unless their successor is in place.
  Result<void> recover();

  Result<StagedUpload> begin(const std::string& key);
  Result<StagedUpload> begin_at_once(const std::string& key);
  Result<void> put_part(const StagedUpload& upload, std::uint32_t n, std::string_view bytes);
  // Code::not_found after the commit or the abort.
  Result<std::vector<StagedPart>> parts(const StagedUpload& upload);
  // Renames the data to the key when it has exactly these parts. The same call again finds what it made.
  Result<FileEntry> commit(const StagedUpload& upload, const std::vector<StagedPart>& parts,
                           bool may_replace);
  Result<void> abort(const StagedUpload& upload);
  // Lists what was last written before `older_than`, or after `newer_than` (by a clock that was wrong).
  Result<std::vector<Leftover>> leftovers(Time older_than, Time newer_than);
  // Code::conflict when it was written since it was listed.
  Result<void> drop_leftover(const Leftover& leftover);
  // Drops what leftovers() lists.
  Result<void> sweep(Time older_than, Time newer_than);
  // Code::upstream when the tree dates a new file by another time than `clock`: ages are then unknown.
  Result<void> check_clock(const Clock& clock);

 private:
  Result<FileEntry> find_committed(const StagedUpload& upload);
  Result<void> drop(const std::string& path);
  Result<std::uint64_t> staged_bytes(const std::string& path);
  Result<void> replace_with_backup(const std::string& path, const std::string& key);
  Result<void> recover_one(const std::string& id);
  Result<void> remove_if_exists(const std::string& path);
  FileTree& tree_;
};

}  // namespace dash::storage::local
