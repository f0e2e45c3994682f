#include "core/base/redact.hpp"
#include "core/crypto/password.hpp"
#include "core/policy/settings.hpp"
#include "core/setup/config_audit.hpp"
#include "core/setup/config_service.hpp"
#include "core/storage/store/registry.hpp"

namespace dash::setup {
namespace {

OrderedJson details_of(const ImportResult& report, const WriteResult& result) {
  auto keys = OrderedJson::array();
  for (const auto& [key, value] : result.changes) keys.push_back(key);
  auto refused = OrderedJson::object();
  for (const auto& [key, reason] : report.refused) refused[key] = reason;
  return {{"keys_written", report.keys_written},
          {"keys", keys},
          {"regions_merged", report.regions_merged},
          {"refused", refused},
          {"changes", changes_to_json(result.before, result.changes)},
          {"change_id", report.change_id}};
}

// A bundle's value is stored as it is. If it were refused, the old value would stay and might allow more than
// was meant. The gate closes on such a value, so the user who imports gets a warning.
std::map<std::string, std::string> warnings_about(const ImportBody& body) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : body.flat)
    if (auto checked = policy::check_setting(key, value); !checked)
      out[key] = without_userinfo(checked.error().message);
  return out;
}

std::string sentence(const std::map<std::string, std::string>& refused) {
  std::string out = "Every key was refused, nothing was written:";
  for (const auto& [key, reason] : refused) out += fmt::format(" {} ({})", key, reason);
  return out;
}

ImportResult all_refused(const std::map<std::string, std::string>& refused) {
  ImportResult report;
  report.refused = refused;
  report.is_all_refused = true;
  return report;
}

// A folder that is refused everywhere gets that reason, and not the one of a path that stays with its host.
void mark_refused_paths(ImportBody& body, const Json& config, const storage::local::RootRules& roots) {
  for (auto& [key, reason] : body.refused) {
    if (config::canonical_key(key) != "storage_local_path" || reason != "local_path") continue;
    if (!storage::check_local_root(setting_text(config.at(key)), roots)) reason = "path_refused";
  }
}

// Lists refused keys as they were sent.
ImportResult report_of(const ImportBody& body, const WriteResult& result) {
  auto refused = body.refused;
  for (const auto& [key, reason] : result.refused) refused[body.sent_key(key)] = reason;
  if (result.changes.empty() && !refused.empty()) return all_refused(refused);
  ImportResult report;
  report.keys_written = body.flat.size() - result.refused.size();
  report.regions_merged = body.regions;
  report.refused = std::move(refused);
  report.warnings = warnings_about(body);
  report.change_id = result.change_id;
  report.iac_state_migrated = result.iac_state_migrated;
  report.iac_state_left = result.iac_state_left;
  return report;
}

}  // namespace

Result<bool> ConfigService::authorize_import(const std::optional<Principal>& principal) {
  if (!TRY(directory_.is_set_up())) return true;
  if (!principal) return fail(Code::unauthenticated, "Authentication required");
  TRY(require_admin(*principal));
  return false;
}

Result<void> ConfigService::check_setup_code(const Secret& code, const std::string& address) {
  auto checked = setup_code_.check(code);
  if (!checked) TRY(throttle_.check_and_count(kSetupCodeLimit, address));
  return checked;
}

Result<ImportResult> ConfigService::import(const std::optional<Principal>& principal,
                                           const ImportRequest& request, const std::string& address) {
  bool first_run = TRY(authorize_import(principal));
  std::string password_hash;
  if (first_run) {
    if (request.admin_username.empty() || request.admin_password.empty())
      return fail(Code::invalid, "admin_username and admin_password are required for first-run import.");
    TRY(check_setup_code(request.setup_code, address));
    TRY(identity::check_password(request.admin_password));
    password_hash = crypto::hash_password(request.admin_password);
  }
  // A claim may be of an account alone.
  if (!request.config.is_object() || (request.config.empty() && !first_run))
    return fail(Code::invalid, "config must be a non-empty object.");
  auto body = sort_import(request.config, request.rules);
  mark_refused_paths(body, request.config, roots_);
  if (body.is_empty() && !body.refused.empty()) return all_refused(body.refused);

  Principal author = principal.value_or(Principal{});
  if (first_run) {
    author.username = identity::fold_username(request.admin_username);
    author.address = address;
  }
  auto report = TRY(write(author, request, body, first_run, password_hash));
  if (first_run && !report.is_all_refused) setup_code_.remove();
  return report;
}

// Checked again inside of the transaction: of two clients that claim at once, one wins.
Result<void> ConfigService::create_first_admin(db::Transaction& tx, const Principal& author,
                                               const ImportRequest& request, std::string_view password_hash) {
  if (TRY(directory_.is_set_up(tx)))
    return fail(Code::conflict, "This instance was set up a moment ago; sign in.");
  const auto& name = author.username;
  // A user of that name without the admin flag becomes the admin: the setup code proves the operator.
  TRY(tx.exec("DELETE FROM users WHERE username = $1", {name}));
  TRY(directory_.add(tx, {name, request.admin_password, true, {}, {}}, password_hash));
  TRY(audit_.append(tx,
                    audit::make_event(author, "user.create", name, {{"is_admin", true}, {"claim", true}})));
  return {};
}

Result<ImportResult> ConfigService::write(const Principal& author, const ImportRequest& request,
                                          const ImportBody& body, bool first_run,
                                          const std::string& password_hash) {
  ImportResult report;
  WriteRequest write{.principal = author, .origin = "import", .state = request.state, .omits_refused = true};
  if (first_run)
    write.begin = [&](db::Transaction& tx) { return create_first_admin(tx, author, request, password_hash); };
  write.make = [&](db::Transaction&, const config::Values& stored) -> Result<config::Changes> {
    config::Changes changes(body.flat.begin(), body.flat.end());
    add_region_changes(body, stored, changes);
    return changes;
  };
  write.record = [&](db::Transaction& tx, const WriteResult& result) -> Result<void> {
    report = report_of(body, result);
    // An import of which nothing is accepted must not claim the instance.
    if (report.is_all_refused) return fail(Code::invalid, "{}", sentence(report.refused));
    TRY(audit_.append(tx,
                      audit::make_event(author, "config.import", std::nullopt, details_of(report, result))));
    return {};
  };
  auto written = writer_.write(write);
  if (!written && !report.is_all_refused) return Failure(std::move(written).error());
  return report;
}

OrderedJson to_json(const ImportResult& report) {
  if (report.is_all_refused) return {{"detail", sentence(report.refused)}, {"refused", report.refused}};
  return {{"ok", true},
          {"keys_written", report.keys_written},
          {"regions_merged", report.regions_merged},
          {"refused", report.refused},
          {"warnings", report.warnings},
          {"change_id", report.change_id},
          {"iac_state_migrated", report.iac_state_migrated},
          {"iac_state_left", storage::to_json(report.iac_state_left)}};
}

}  // namespace dash::setup
