#include "core/setup/storage_page.hpp"

#include "core/setup/config_service.hpp"
#include "core/storage/settings/config_view.hpp"
#include "core/storage/store/backends.hpp"

namespace dash::setup {

Result<StorageUpdateResult> ConfigService::change_storage(const Principal& principal, const Json& body) {
  TRY(require_admin(principal));
  auto options = TRY(storage::read_state_flags(body));
  StorageUpdateResult update;
  WriteRequest request{.principal = principal,
                       .origin = "storage",
                       .state = {options.migrate, options.abandon, options.overwrite}};
  request.make = [&](db::Transaction&, const config::Values& stored) -> Result<config::Changes> {
    auto patch = TRY(storage::read_config_patch(body, stored));
    update.updated = patch.updated;
    update.style = storage::name_style_of(stored);
    return patch.changes;
  };
  request.record = [&](db::Transaction& tx, const WriteResult& result) -> Result<void> {
    if (result.changes.empty()) return {};
    OrderedJson details{{"keys", update.updated}, {"change_id", result.change_id}};
    if (result.iac_state_migrated > 0) details["iac_state_migrated"] = result.iac_state_migrated;
    TRY(audit_.append(
        tx, audit::make_event(principal, "storage.config.update", std::nullopt, std::move(details))));
    return {};
  };
  auto written = TRY(writer_.write(request));
  update.iac_state_migrated = written.iac_state_migrated;
  update.iac_state_left = std::move(written.iac_state_left);
  return update;
}

OrderedJson to_json(const StorageUpdateResult& update) {
  auto migrated =
      update.style == config::NameStyle::provider ? "terraform_state_migrated" : "iac_state_migrated";
  return {{"ok", true},
          {"updated", update.updated},
          {migrated, update.iac_state_migrated},
          {"iac_state_left", storage::to_json(update.iac_state_left)}};
}

}  // namespace dash::setup
