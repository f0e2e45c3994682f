// The files of one share, as storage jobs see them: one folder beneath its root, files of the accepted extensions
// alone. Paths are resolved beneath the root without symbolic links; a file is replaced in one step. Errors name
// the share and never its path.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/agent/protocol/storage_job.hpp"
#include "core/agent/protocol/storage_result.hpp"
#include "core/agent/remote/shares.hpp"
#include "core/base/clock.hpp"
#include "core/storage/store/local/file_tree.hpp"
#include "core/storage/store/local/root_rules.hpp"
#include "core/storage/store/store.hpp"

namespace dash::agent {

// What opening a share takes from outside; outlives the files.
struct ShareDeps {
  const Clock& clock;
  const storage::local::RootRules& rules;  // folders that no share may have
  std::string launcher;                    // this binary, for the child that runs SMB
};

class ShareFiles {
 public:
  // `password` is the one to use, whatever the share's own is.
  ShareFiles(const Share& share, Secret password, const ShareDeps& deps)
      : share_(share), password_(std::move(password)), deps_(deps) {}

  // Without a cursor all files; with one a page of those after it. Code::too_large for more than a result carries.
  Result<ListJobResult> list(const std::string& subpath, const std::optional<std::string>& cursor);
  // The range that the job asks for, else the whole file. Code::not_found; Code::too_large for more than a result
  // carries.
  Result<FetchJobResult> fetch(const StorageJob& job);
  Result<UploadJobResult> upload(const StorageJob& job);
  // A file that is absent is no error.
  Result<RemoveJobResult> remove(const StorageJob& job);

 private:
  template <class T>
  Result<T> without_path(Result<T> result) const;
  Result<std::unique_ptr<storage::local::FileTree>> open_tree() const;
  Result<std::unique_ptr<storage::ObjectStore>> open_store() const;
  Result<std::vector<SharedFile>> files_of(const std::string& subpath) const;
  const Share& share_;
  const Secret password_;
  const ShareDeps& deps_;
};

}  // namespace dash::agent
