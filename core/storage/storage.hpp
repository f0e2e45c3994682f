// The storage module as one object, for its callers in cmd and daemon. Built once by app.
#pragma once
#include "core/base/secret.hpp"
#include "core/storage/assets/assets.hpp"
#include "core/storage/assets/comparison.hpp"
#include "core/storage/assets/deep_test.hpp"
#include "core/storage/assets/migration.hpp"
#include "core/storage/assets/sweep.hpp"
#include "core/storage/assets/sweep_schedule.hpp"
#include "core/storage/settings/configuration.hpp"
#include "core/storage/settings/iac_state.hpp"
#include "core/storage/settings/states.hpp"
#include "core/storage/upload/chunked_uploads.hpp"
#include "core/storage/upload/json_uploads.hpp"

namespace dash::storage {

static_assert(kMinSweepAge >= kHandleLifetime, "a sweep must spare what a handle can continue");

struct StorageDeps {
  config::Settings& settings;
  db::Sql& sql;
  audit::Log& audit;
  const Clock& clock;
  BufferPool& buffers;
  std::string deploy_folder;  // absolute; state that deployments write while a file system is active
};

class Storage {
 public:
  // `key` seals upload handles and cursors: derived from the signing key, the same on every replica.
  Storage(const StorageDeps& deps, const OpenStore& open, Secret key)
      : deps_(deps),
        state_(open, {deps.sql, deps.buffers, deps.clock, deps.deploy_folder}),
        stores_(deps.settings, open),
        states_({stores_, deps.settings, open, deps.sql, deps.audit, deps.clock, deps.deploy_folder}),
        scopes_(deps.sql, deps.audit),
        config_(deps.settings),
        assets_({stores_, scopes_, deps.sql, deps.audit, key}),
        migration_({stores_, scopes_, assets_, deps.sql, deps.audit, deps.buffers, deps.clock}),
        upload_rules_(stores_, scopes_),
        uploads_({upload_rules_, deps.sql, deps.audit, deps.clock}, std::move(key)) {}

  IacState& state() { return state_; }
  States& states() { return states_; }
  Stores& stores() { return stores_; }
  AssetScopes& scopes() { return scopes_; }
  Configuration& config() { return config_; }
  Assets& assets() { return assets_; }
  Migration& migration() { return migration_; }
  ChunkedUploads& uploads() { return uploads_; }
  Result<std::unique_ptr<JsonUpload>> open_json_upload(Principal principal) {
    return JsonUpload::open(upload_deps(), std::move(principal));
  }
  // Opens an upload without the JSON around the bytes, for the command line on a data directory.
  Result<std::unique_ptr<StreamingUpload>> open_streaming_upload(Principal principal);
  Result<CompareResult> compare(const Principal& principal, const CompareRequest& request,
                                Progress& progress) {
    return compare_backends({stores_, assets_, deps_.buffers}, principal, request, progress);
  }
  Result<SweepResult> sweep(const Principal& principal, const SweepRequest& request) {
    return sweep_stores(sweep_deps(), principal, request);
  }
  SweepSchedule sweep_schedule() { return SweepSchedule(sweep_deps(), deps_.settings); }
  // Returns the body of GET /api/storage/backends. Admins also get what each held at its last sweep.
  Result<OrderedJson> backends(const Principal& principal);
  // Tests a store, for admins. Code::invalid for an unknown or unconfigured backend.
  Result<DeepTestReport> deep_test(const Principal& principal, std::string_view backend);

 private:
  UploadDeps upload_deps() { return {stores_, scopes_, deps_.sql, deps_.audit, deps_.buffers}; }
  SweepDeps sweep_deps() { return {stores_, deps_.sql, deps_.audit, deps_.clock}; }
  StorageDeps deps_;
  IacState state_;
  Stores stores_;
  States states_;
  AssetScopes scopes_;
  Configuration config_;
  Assets assets_;
  Migration migration_;
  AssetUploadRules upload_rules_;
  ChunkedUploads uploads_;
};

}  // namespace dash::storage
