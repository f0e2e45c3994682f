#include "core/setup/storage_page.hpp"

#include "core/setup/setup.hpp"
#include "core/storage/settings/config_view.hpp"
#include "core/storage/store/backends.hpp"

namespace dash::setup {

Result<StorageUpdate> Setup::change_storage(const Principal& who, const Json& body) {
  TRY(require_admin(who));
  auto options = TRY(storage::read_state_flags(body));
  StorageUpdate update;
  WriteRequest request{.who = who, .origin = "storage", .state = {options.migrate, options.abandon}};
  request.make = [&](db::Transaction&, const config::Values& stored) -> Result<config::Changes> {
    auto patch = TRY(storage::read_config_patch(body, stored));
    update.updated = patch.updated;
    update.spelling = storage::spelling_of(stored);
    return patch.changes;
  };
  request.record = [&](db::Transaction& tx, const WriteResult& result) -> Result<void> {
    if (result.changes.empty()) return {};
    OrderedJson details{{"keys", update.updated}, {"change_id", result.change_id}};
    if (result.iac_state_migrated > 0) details["iac_state_migrated"] = result.iac_state_migrated;
    TRY(audit_.append(tx, audit::by(who, "storage.config.update", std::nullopt, std::move(details))));
    return {};
  };
  update.iac_state_migrated = TRY(writer_.write(request)).iac_state_migrated;
  return update;
}

OrderedJson to_json(const StorageUpdate& update) {
  auto migrated =
      update.spelling == config::Spelling::provider ? "terraform_state_migrated" : "iac_state_migrated";
  return {{"ok", true}, {"updated", update.updated}, {migrated, update.iac_state_migrated}};
}

}  // namespace dash::setup
