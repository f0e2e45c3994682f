// Reads and changes the storage settings (2-storage.md, GET|PATCH /api/storage/config): admins only, audited,
// all or nothing.
#pragma once
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/config/clouds.hpp"
#include "core/config/store.hpp"
#include "core/storage/config_view.hpp"

namespace dash::storage {

struct ConfigUpdate {
  std::vector<std::string> updated;  // keys, as this instance spells them
  std::int64_t iac_state_migrated = 0;
  config::Spelling spelling = config::Spelling::canonical;
};
OrderedJson to_json(const ConfigUpdate&);

class Configuration {
 public:
  Configuration(config::Store& config, db::Sql& sql, audit::Log& audit)
      : config_(config), sql_(sql), audit_(audit) {}

  Result<OrderedJson> backends();
  Result<OrderedJson> show(const identity::Principal& who);
  Result<ConfigUpdate> change(const identity::Principal& who, const Json& body);

 private:
  config::Store& config_;
  db::Sql& sql_;
  audit::Log& audit_;
};

}  // namespace dash::storage
