#include "core/storage/configuration.hpp"

#include "core/storage/backends.hpp"

namespace dash::storage {

Result<OrderedJson> Configuration::backends() { return describe_backends(TRY(config_.all())); }

Result<OrderedJson> Configuration::show(const identity::Principal& who) {
  TRY(identity::require_admin(who));
  return show_config(TRY(config_.all()));
}

Result<ConfigUpdate> Configuration::change(const identity::Principal& who, const Json& body) {
  TRY(identity::require_admin(who));
  return db::write<ConfigUpdate>(sql_, [&](db::Transaction& tx) -> Result<ConfigUpdate> {
    auto values = TRY(config_.all(tx));
    auto patch = TRY(read_config_patch(body, values));
    if (!patch.changes.empty()) {
      auto change_id = TRY(config_.apply(tx, patch.changes, {who.username, "storage"}));
      OrderedJson details{{"keys", patch.updated}, {"change_id", change_id}};
      TRY(audit_.append(tx, audit::by(who, "storage.config.update", std::nullopt, std::move(details))));
    }
    return ConfigUpdate{patch.updated, 0, spelling_of(values)};
  });
}

OrderedJson to_json(const ConfigUpdate& update) {
  auto migrated =
      update.spelling == config::Spelling::provider ? "terraform_state_migrated" : "iac_state_migrated";
  return {{"ok", true}, {"updated", update.updated}, {migrated, update.iac_state_migrated}};
}

}  // namespace dash::storage
