// Copies assets from one backend to another: all of them, or one. For admins, audited. The source of a
// migration is never deleted, the active backend stays, and the scope is copied with the asset. What users
// start is a job (migration_jobs.hpp). Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/base/buffer_pool.hpp"
#include "core/base/principal.hpp"
#include "core/storage/assets/asset_walk.hpp"
#include "core/storage/assets/migration_journal.hpp"
#include "core/storage/assets/migration_meter.hpp"

namespace dash::storage {

struct MigrateRequest {
  std::string source, target;          // ids in either spelling
  bool overwrite = false;              // else names that the target has are skipped
  bool is_dry_run = false;             // reports what would be copied; nothing is written, nothing audited
  std::uint64_t bytes_per_second = 0;  // 0: no limit
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
  bool is_stopped = false;  // before it came to all of them
  std::string job_id;       // empty for a dry run
};
// {source, target, copied, skipped, failed: [{name, error}], summary, job_id}; a dry run has dry_run: true
// and no job.
OrderedJson to_json(const MigrateReport&);

struct MoveResult {
  std::string name, from, to;
};
// {ok, moved, from, to}
OrderedJson to_json(const MoveResult&);

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
    const Clock& clock;
  };
  explicit Migration(Deps deps) : deps_(deps) {}

  // Tells what a migration would do, and writes nothing.
  Result<MigrateReport> plan(const Principal& principal, const MigrateRequest& request);
  // Copies several assets at once, as the job `job_id`; goes on from its journal. A failed asset does not end
  // the run. Code::invalid for an unknown or unconfigured backend and when both are the same; the store's own
  // error when one cannot be listed.
  Result<MigrateReport> run(const Principal& principal, const MigrateRequest& request,
                            const std::string& job_id, jobs::RunControl& control);
  // Code::conflict when the target has the name and `overwrite` is not set. When the copy is complete and the
  // source cannot be deleted, the error explains that.
  Result<MoveResult> move(const Principal& principal, const std::string& name, std::string_view from,
                          std::string_view to, bool overwrite);

 private:
  enum class CopyOutcome { copied, taken };
  // What a copy is made with; only that of a migration has a journal and a watch.
  struct CopyTask {
    const Principal& principal;
    const BackendPair& pair;
    bool overwrite = false;
    const MigrationJournal* journal = nullptr;
    CopyWatch* watch = nullptr;
  };
  // What an earlier run of the job did with an item.
  enum class EarlierCopy { none, done, outdated };
  struct Selected {
    std::string name;
    std::uint64_t size = 0;
  };
  struct Selection {
    MigrateReport report;  // with what is skipped
    std::vector<Selected> assets;
  };
  Result<Selection> select(const Principal& principal, const MigrateRequest& request, const BackendPair& pair,
                           const MigrationJournal* journal);
  // Copies what is selected and fills the report.
  void copy_all(const CopyTask& task, Selection& selection, MigrationMeter& meter);
  Result<EarlierCopy> look_back(const CopyTask& task, const FindResult& found);
  Result<CopyOutcome> copy(const CopyTask& task, const std::string& name);
  Result<CopyOutcome> copy_found(const CopyTask& task, const FindResult& found);
  Result<void> record(const Principal& principal, const MigrateReport& report, bool overwrite,
                      const MigrationJournal& journal);
  Deps deps_;
};

}  // namespace dash::storage
