#include "core/storage/configuration.hpp"

#include "core/storage/backends.hpp"

namespace dash::storage {

Result<OrderedJson> Configuration::backends() { return describe_backends(TRY(seams_.config.all())); }

Result<OrderedJson> Configuration::show(const identity::Principal& who) {
  TRY(identity::require_admin(who));
  return show_config(TRY(seams_.config.all()));
}

// Copies the state when the patch moves the active backend away from it. How many objects.
Result<std::int64_t> Configuration::bring_state(const config::Values& before, const ConfigPatch& patch) {
  auto after = before;
  for (const auto& [key, value] : patch.changes) after[key] = value.value_or("");
  Seat from{active_backend(before), &before};
  Seat to{active_backend(after), &after};
  if (!seams_.state.is_elsewhere(from, to) || !TRY(seams_.state.holds(from))) return 0;
  auto shown = spelled_backend(spelling_of(before), from.backend->id);
  if (!patch.migrate_iac_state)
    return fail(
        Code::conflict,
        "Deployments have infrastructure state on '{}'. Send migrate_iac_state=true (a peer's client: "
        "migrate_terraform_state=true) to copy it to the new backend and switch.",
        shown);
  if (!to.backend)
    return fail(Code::invalid, "'{}' holds infrastructure state, and no other backend is configured", shown);
  return seams_.state.copy(from, to);
}

Result<ConfigUpdate> Configuration::change(const identity::Principal& who, const Json& body) {
  TRY(identity::require_admin(who));
  auto before = TRY(seams_.config.all());
  auto migrated = TRY(bring_state(before, TRY(read_config_patch(body, before))));
  return db::write<ConfigUpdate>(seams_.sql, [&](db::Transaction& tx) -> Result<ConfigUpdate> {
    auto values = TRY(seams_.config.all(tx));
    if (seams_.state.is_elsewhere({active_backend(before), &before}, {active_backend(values), &values}))
      return fail(Code::conflict, "somebody else switched the active backend just now; send it again");
    auto patch = TRY(read_config_patch(body, values));
    if (!patch.changes.empty()) {
      auto change_id = TRY(seams_.config.apply(tx, patch.changes, {who.username, "storage"}));
      OrderedJson details{{"keys", patch.updated}, {"change_id", change_id}};
      if (migrated > 0) details["iac_state_migrated"] = migrated;
      TRY(seams_.audit.append(tx, audit::by(who, "storage.config.update", std::nullopt, std::move(details))));
    }
    return ConfigUpdate{patch.updated, migrated, spelling_of(values)};
  });
}

OrderedJson to_json(const ConfigUpdate& update) {
  auto migrated =
      update.spelling == config::Spelling::provider ? "terraform_state_migrated" : "iac_state_migrated";
  return {{"ok", true}, {"updated", update.updated}, {migrated, update.iac_state_migrated}};
}

}  // namespace dash::storage
