// Runs of the automation runner over assets (POST /api/config-mgmt/run and run-bulk). A run is a job of the
// action config-mgmt:run, which no rule gates; its executor gets the asset's name and backend. A user who may
// read an asset may run it. This is checked when the run is requested: queued jobs still run. Thread-safe.
#pragma once
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/base/principal.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/jobs/job.hpp"
#include "core/storage/assets/assets.hpp"

namespace dash::automation {

inline constexpr std::size_t kMaxBulkRuns = 50;

struct BulkRunResult {
  std::string batch_id, kind;
  std::vector<jobs::Job> jobs;
};
// {job_id, status}
OrderedJson run_to_json(const jobs::Job&);
// {batch_id, kind, count, jobs: [{inventory_id, name, job_id}], failed: []}
OrderedJson to_json(const BulkRunResult&);

class Automation {
 public:
  struct Deps {
    storage::Stores& stores;
    storage::Assets& assets;
    config::EncryptedStore& config;
    db::Sql& sql;
    audit::Log& audit;
    const Clock& clock;
  };
  explicit Automation(Deps deps) : deps_(deps) {}

  // Starts a run. `asset` is required; asset_backend (blank: the active one), target, cloud and workgroup are
  // read, and every other member goes to the executor. Code::not_found for an asset that the caller may not
  // read, or that the named workgroup's run may not use (global and its own only). Code::invalid for a file
  // that cannot be run, and for an asset on a file system while the runner is in a cloud.
  Result<jobs::Job> run(const Principal& principal, const Json& body);
  // Starts one run for each of `inventory_ids`, all or none.
  Result<BulkRunResult> run_bulk(const Principal& principal, const Json& body);
  // Returns the names of the active backend's playbooks.
  Result<std::vector<std::string>> playbooks(const Principal& principal);

 private:
  Result<jobs::Job> make_job(const Principal& principal, const Json& body);
  Result<void> enqueue(const Principal& principal, std::vector<jobs::Job>& jobs, const Json& parameters);
  Deps deps_;
};

}  // namespace dash::automation
