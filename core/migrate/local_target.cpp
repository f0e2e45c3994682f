#include "core/migrate/local_target.hpp"

#include "core/migrate/answer.hpp"

namespace dash::migrate {

Result<bool> LocalTarget::is_set_up() { return TRY(deps_.config_service.status(principal_)).complete; }

Result<InstanceConfig> LocalTarget::read() {
  auto unreadable = TRY(deps_.config.unreadable_keys());
  if (!unreadable.empty())
    return fail(Code::integrity,
                "the key of the instance in {} does not open {} of its settings, so it is not the key that "
                "they were written "
                "with: {}",
                folder_, unreadable.size(), fmt::join(unreadable, ", "));
  InstanceConfig out;
  out.values = TRY(deps_.config.all());
  return out;
}

// Only webhooks hide values here.
Result<std::optional<std::map<std::string, setup::ValueMatch>>> LocalTarget::compare(
    const config::Values& mine) {
  auto hidden = TRY(deps_.webhooks.hidden_values());
  std::map<std::string, setup::ValueMatch> out;
  for (const auto& [name, value] : mine) {
    auto it = hidden.find(name);
    out[name] = it == hidden.end()    ? setup::ValueMatch::absent
                : it->second == value ? setup::ValueMatch::same
                                      : setup::ValueMatch::differs;
  }
  return std::optional(std::move(out));
}

Result<TargetWriteResult> LocalTarget::write(const TargetWriteRequest& write_request) {
  setup::ImportRequest request;
  request.config = Json::object();
  for (const auto& [key, value] : write_request.values) request.config[std::string(key)] = value;
  request.rules = {write_request.include_on_prem, write_request.replace_regions};
  request.state = write_request.state;
  if (write_request.bootstrap) {
    request.admin_username = write_request.bootstrap->admin;
    request.admin_password = write_request.bootstrap->password;
    // The owner of the folder can read its code.
    request.setup_code = write_request.bootstrap->setup_code.empty() ? TRY(deps_.setup_code.ensure())
                                                                     : write_request.bootstrap->setup_code;
  }
  auto report = TRY(deps_.config_service.import(principal_, request, ""));
  if (report.is_all_refused && write_request.bootstrap) return bootstrap_refused(folder_, report.refused);
  return TargetWriteResult{report.keys_written, report.regions_merged, report.refused,
                           report.warnings,     report.change_id,      report.iac_state_left};
}

Result<std::vector<setup::Webhook>> LocalTarget::webhooks() { return deps_.webhooks.list(principal_); }

Result<void> LocalTarget::put_webhook(const std::optional<std::string>& id, const setup::FullWebhook& row) {
  setup::WebhookInput input{row.name, row.url, row.fmt, row.secret, row.event_types, row.enabled};
  if (id) {
    TRY(deps_.webhooks.change(principal_, *id, input));
  } else {
    TRY(deps_.webhooks.add(principal_, input));
  }
  return {};
}

Result<std::optional<std::set<std::string>>> LocalTarget::vaults() {
  std::set<std::string> out;
  for (const auto& vault : TRY(deps_.vaults.list(principal_))) out.insert(vault.backend + "://" + vault.id);
  return std::optional(std::move(out));
}

Result<setup::RollbackResult> LocalTarget::rollback(const std::string& change_id,
                                                    const setup::StateOptions& state) {
  return deps_.config_service.rollback(principal_, change_id, state);
}

}  // namespace dash::migrate
