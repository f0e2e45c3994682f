// Copies assets from one backend to another: all of them, or one. For admins, audited. The source of a
// migration is never deleted, the active backend stays, and the scope is copied with the asset. Thread-safe.
#pragma once
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/base/buffer_pool.hpp"
#include "core/base/principal.hpp"
#include "core/base/progress.hpp"
#include "core/storage/assets/assets.hpp"

namespace dash::storage {

struct MigrateRequest {
  std::string source, target;  // ids in either spelling
  bool overwrite = false;      // else names that the target has are skipped
  bool is_dry_run = false;     // reports what would be copied; nothing is written, nothing audited
};

struct MigrateReport {
  struct Failed {
    std::string name;
    std::string error;
  };
  std::string source, target;  // as this instance spells them
  bool is_dry_run = false;
  std::vector<std::string> copied, skipped;  // by name
  std::vector<Failed> failed;
};
// {source, target, copied, skipped, failed: [{name, error}], summary}; a dry run has dry_run: true.
OrderedJson to_json(const MigrateReport&);

struct MoveResult {
  std::string name, from, to;
};
// {ok, moved, from, to}
OrderedJson to_json(const MoveResult&);

struct BackendPair {
  OpenBackend from, to;
};
// Code::invalid for an unknown or unconfigured backend and when both are the same.
Result<BackendPair> open_two_backends(Stores& stores, const Principal& principal, std::string_view from,
                                      std::string_view to);

class Migration {
 public:
  struct Deps {
    Stores& stores;
    AssetScopes& scopes;
    Assets& assets;
    db::Sql& sql;
    audit::Log& audit;
    BufferPool& buffers;
  };
  explicit Migration(Deps deps) : deps_(deps) {}

  // Copies several assets at once. A failed asset does not end the run. Code::invalid for an unknown or
  // unconfigured backend and when both are the same; the store's own error when one cannot be listed.
  Result<MigrateReport> run(const Principal& principal, const MigrateRequest& request, Progress& progress);
  // Code::conflict when the target has the name and `overwrite` is not set. When the copy is complete and the
  // source cannot be deleted, the error explains that.
  Result<MoveResult> move(const Principal& principal, const std::string& name, std::string_view from,
                          std::string_view to, bool overwrite);

 private:
  enum class CopyOutcome { copied, taken };
  Result<CopyOutcome> copy(const Principal& principal, const OpenBackend& from, const OpenBackend& to,
                           const std::string& name, bool overwrite);
  Result<void> record(const Principal& principal, const MigrateReport& report, bool overwrite);
  Deps deps_;
};

}  // namespace dash::storage
