#include "core/migrate/local_instance.hpp"

#include "core/migrate/answer.hpp"

namespace dash::migrate {

Result<bool> LocalInstance::is_set_up() { return TRY(parts_.setup.status(who_)).complete; }

Result<Told> LocalInstance::read() {
  auto unreadable = TRY(parts_.config.unreadable_keys());
  if (!unreadable.empty())
    return fail(Code::integrity,
                "the key of the instance in {} does not open {} of its settings, so it is not the key that "
                "they were written "
                "with: {}",
                folder_, unreadable.size(), fmt::join(unreadable, ", "));
  Told told;
  told.values = TRY(parts_.config.all());
  return told;
}

// Only webhooks hide anything here.
Result<std::optional<std::map<std::string, setup::Comparison>>> LocalInstance::compare(
    const config::Values& mine) {
  auto hidden = TRY(parts_.endpoints.hidden_values());
  std::map<std::string, setup::Comparison> out;
  for (const auto& [name, value] : mine) {
    auto it = hidden.find(name);
    out[name] = it == hidden.end()    ? setup::Comparison::absent
                : it->second == value ? setup::Comparison::same
                                      : setup::Comparison::differs;
  }
  return std::optional(std::move(out));
}

Result<Written> LocalInstance::write(const WriteOrder& order) {
  setup::ImportRequest request;
  request.config = Json::object();
  for (const auto& [key, value] : order.values) request.config[key] = value;
  request.rules = {order.include_on_prem, order.replace_regions};
  request.state = order.state;
  if (order.claim) {
    request.admin_username = order.claim->admin;
    request.admin_password = order.claim->password;
    // Whoever holds the folder holds its code.
    request.setup_code =
        order.claim->setup_code.empty() ? TRY(parts_.setup_code.ensure()) : order.claim->setup_code;
  }
  auto report = TRY(parts_.setup.import(who_, request, ""));
  if (report.is_all_refused && order.claim) return not_claimed(folder_, report.refused);
  return Written{report.keys_written, report.regions_merged, report.refused, report.warnings,
                 report.change_id};
}

Result<std::vector<setup::Endpoint>> LocalInstance::endpoints() { return parts_.endpoints.list(who_); }

Result<void> LocalInstance::put_endpoint(const std::optional<std::string>& id,
                                         const setup::FullEndpoint& row) {
  setup::EndpointInput input{row.name, row.url, row.fmt, row.secret, row.event_types, row.enabled};
  if (id) {
    TRY(parts_.endpoints.change(who_, *id, input));
  } else {
    TRY(parts_.endpoints.add(who_, input));
  }
  return {};
}

Result<std::optional<std::set<std::string>>> LocalInstance::vaults() {
  std::set<std::string> out;
  for (const auto& vault : TRY(parts_.vaults.list(who_))) out.insert(vault.backend + "://" + vault.id);
  return std::optional(std::move(out));
}

Result<setup::RollbackReport> LocalInstance::rollback(const std::string& change_id,
                                                      const setup::StateOptions& state) {
  return parts_.setup.rollback(who_, change_id, state);
}

}  // namespace dash::migrate
