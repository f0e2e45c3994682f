// Migrations as jobs, "storage:migrate": run by the caller that waits, or by any worker of the instance. The
// job's progress counts items and bytes, its result is the report. Cancelling it stops it within a piece of
// 8 MiB; when its process dies, it goes back to the queue and goes on from its journal. Two migrations of one
// pair of backends, in either direction, exclude each other. One whose
// process died without a server that sweeps is continued by the next of the same request. A job runs only
// while its requester is still an active admin. Thread-safe.
#pragma once
#include <functional>
#include <string>

#include "core/identity/directory.hpp"
#include "core/jobs/requester.hpp"
#include "core/jobs/run_now.hpp"
#include "core/storage/assets/migration.hpp"

namespace dash::storage {

inline constexpr std::string_view kMigrateAction = "storage:migrate";

class MigrationJobs {
 public:
  struct Deps {
    Migration& migration;
    Stores& stores;
    identity::Directory& directory;
    audit::Log& audit;
    const jobs::Deps& jobs;
  };
  explicit MigrationJobs(Deps deps) : deps_(deps) {}

  // Runs the migration in this thread and returns its report (to_json of a MigrateReport). A dry run makes no
  // job. Stops when `is_abandoned` returns true. Code::conflict, naming the job, while another migration of
  // the pair exists, and when the job was cancelled; else the errors of Migration::run().
  Result<OrderedJson> run(const Principal& principal, const MigrateRequest& request,
                          const std::function<bool()>& is_abandoned,
                          const jobs::OnProgress& on_progress = {});
  // Makes a pending job. Code::conflict as run(), Code::invalid as Migration::run().
  Result<jobs::Job> enqueue(const Principal& principal, const MigrateRequest& request);

  jobs::RunnerEntry runner();

 private:
  // A job that is not inserted yet.
  struct Draft {
    jobs::Job job;
    Json parameters;
    jobs::OnInsert on_insert;
  };
  Result<Draft> draft(const Principal& principal, const MigrateRequest& request);
  Deps deps_;
};

}  // namespace dash::storage
