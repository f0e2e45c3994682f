// The storage room whole: what the doors (cmd, daemon) ask of it. Built once by wire.cpp.
#pragma once
#include "core/base/secret.hpp"
#include "core/storage/assets/assets.hpp"
#include "core/storage/assets/comparison.hpp"
#include "core/storage/assets/deep_test.hpp"
#include "core/storage/assets/migration.hpp"
#include "core/storage/assets/sweep.hpp"
#include "core/storage/settings/configuration.hpp"
#include "core/storage/settings/iac_state.hpp"
#include "core/storage/upload/inline_lane.hpp"
#include "core/storage/upload/lane.hpp"

namespace dash::storage {

struct StorageSeams {
  config::Store& config;
  db::Sql& sql;
  audit::Log& audit;
  const Clock& clock;
  PartPool& parts;
  std::string deploy_folder;  // absolute; what deployments leave while a file system is active
};

class Storage {
 public:
  // `key` seals upload handles: derived from the signing key, the same on every replica.
  Storage(const StorageSeams& seams, const OpenStore& open, Secret key)
      : seams_(seams),
        state_(open, {seams.sql, seams.parts, seams.deploy_folder}),
        stores_(seams.config, open),
        scopes_(seams.sql, seams.audit),
        config_(seams.config),
        assets_({stores_, scopes_, seams.sql, seams.audit}),
        migration_({stores_, scopes_, assets_, seams.sql, seams.audit, seams.parts}),
        lane_({stores_, scopes_, seams.sql, seams.audit, seams.clock}, std::move(key)) {}

  IacState& state() { return state_; }
  Stores& stores() { return stores_; }
  Scopes& scopes() { return scopes_; }
  Configuration& config() { return config_; }
  Assets& assets() { return assets_; }
  Migration& migration() { return migration_; }
  Lane& lane() { return lane_; }
  Result<std::unique_ptr<InlineUpload>> upload(Principal who) {
    return InlineUpload::open(upload_seams(), std::move(who));
  }
  // The same without the JSON around the bytes: what the command line sends to the instance that it has open.
  Result<std::unique_ptr<Incoming>> receive(Principal who);
  Result<Comparison> compare(const Principal& who, const std::string& source, const std::string& target,
                             Progress& progress) {
    return compare_backends({stores_, assets_, seams_.parts}, who, source, target, progress);
  }
  Result<Swept> sweep(const Principal& who, std::string_view backend, std::chrono::hours age) {
    return sweep_backend({stores_, seams_.sql, seams_.audit, seams_.clock}, who, backend, age);
  }
  // For admins. Code::invalid for an unknown or unconfigured backend.
  Result<Card> deep_test(const Principal& who, std::string_view backend);

 private:
  UploadSeams upload_seams() { return {stores_, scopes_, seams_.sql, seams_.audit, seams_.parts}; }
  StorageSeams seams_;
  IacState state_;
  Stores stores_;
  Scopes scopes_;
  Configuration config_;
  Assets assets_;
  Migration migration_;
  Lane lane_;
};

}  // namespace dash::storage
