// Reads and changes the storage settings (2-storage.md, GET|PATCH /api/storage/config): admins only, audited,
// all or nothing.
#pragma once
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/config/clouds.hpp"
#include "core/config/store.hpp"
#include "core/storage/config_view.hpp"
#include "core/storage/iac_state.hpp"

namespace dash::storage {

struct ConfigUpdate {
  std::vector<std::string> updated;  // keys, as this instance spells them
  std::int64_t iac_state_migrated = 0;
  config::Spelling spelling = config::Spelling::canonical;
};
OrderedJson to_json(const ConfigUpdate&);

class Configuration {
 public:
  struct Seams {
    config::Store& config;
    db::Sql& sql;
    audit::Log& audit;
    IacState& state;
  };
  explicit Configuration(Seams seams) : seams_(seams) {}

  Result<OrderedJson> backends();
  Result<OrderedJson> show(const identity::Principal& who);
  // Code::conflict when deployments have state on a backend that would no longer be the active one, unless
  // the body has migrate_iac_state: true; then the state is copied first, and Code::upstream when that
  // fails. May talk to both stores.
  Result<ConfigUpdate> change(const identity::Principal& who, const Json& body);

 private:
  Result<std::int64_t> bring_state(const config::Values& before, const ConfigPatch& patch);
  Seams seams_;
};

}  // namespace dash::storage
