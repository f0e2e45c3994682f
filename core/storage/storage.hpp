// The storage room whole: what the doors (cmd, daemon) ask of it. Built once by wire.cpp.
#pragma once
#include "core/base/secret.hpp"
#include "core/storage/assets.hpp"
#include "core/storage/configuration.hpp"
#include "core/storage/deep_test.hpp"
#include "core/storage/upload/inline_lane.hpp"
#include "core/storage/upload/lane.hpp"

namespace dash::storage {

struct StorageSeams {
  config::Store& config;
  db::Sql& sql;
  audit::Log& audit;
  const Clock& clock;
  PartPool& parts;
};

class Storage {
 public:
  // `key` seals upload handles: derived from the signing key, the same on every replica.
  Storage(StorageSeams seams, OpenStore open, Secret key)
      : seams_(seams),
        stores_(seams.config, std::move(open)),
        scopes_(seams.sql, seams.audit),
        config_(seams.config, seams.sql, seams.audit),
        assets_({stores_, scopes_, seams.sql, seams.audit}),
        lane_({stores_, scopes_, seams.sql, seams.audit, seams.clock}, std::move(key)) {}

  Stores& stores() { return stores_; }
  Scopes& scopes() { return scopes_; }
  Configuration& config() { return config_; }
  Assets& assets() { return assets_; }
  Lane& lane() { return lane_; }
  Result<std::unique_ptr<InlineUpload>> upload(identity::Principal who) {
    return InlineUpload::open(upload_seams(), std::move(who));
  }
  // The same without the JSON around the bytes: what the command line sends to the instance that it has open.
  Result<std::unique_ptr<Incoming>> receive(identity::Principal who);
  // For admins. Code::invalid for an unknown or unconfigured backend.
  Result<Card> deep_test(const identity::Principal& who, std::string_view backend);

 private:
  UploadSeams upload_seams() { return {stores_, scopes_, seams_.sql, seams_.audit, seams_.parts}; }
  StorageSeams seams_;
  Stores stores_;
  Scopes scopes_;
  Configuration config_;
  Assets assets_;
  Lane lane_;
};

}  // namespace dash::storage
