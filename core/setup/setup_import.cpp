#include "core/crypto/password.hpp"
#include "core/policy/settings.hpp"
#include "core/setup/setup.hpp"
#include "core/setup/setup_audit.hpp"

namespace dash::setup {
namespace {

OrderedJson details_of(const ImportReport& report, const config::Values& before,
                       const config::Changes& changes) {
  auto keys = OrderedJson::array();
  for (const auto& [key, value] : changes) keys.push_back(key);
  auto refused = OrderedJson::object();
  for (const auto& [key, reason] : report.refused) refused[key] = reason;
  return {{"keys_written", report.keys_written},      {"keys", keys},
          {"regions_merged", report.regions_merged},  {"refused", refused},
          {"changes", changes_told(before, changes)}, {"change_id", report.change_id}};
}

// What a bundle brings is kept as it is: refused, the value of before would stay, which may allow more than
// was meant. The gate closes on it, so whoever imports is told.
std::map<std::string, std::string> warnings_about(const ImportBody& body) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : body.flat)
    if (auto checked = policy::check_setting(key, value); !checked) out[key] = checked.error().message;
  return out;
}

std::string sentence(const std::map<std::string, std::string>& refused) {
  std::string out = "Every key was refused, nothing was written:";
  for (const auto& [key, reason] : refused) out += fmt::format(" {} ({})", key, reason);
  return out;
}

}  // namespace

Result<bool> Setup::admit_import(const std::optional<identity::Principal>& who) {
  if (!TRY(directory_.is_set_up())) return true;
  if (!who) return fail(Code::unauthenticated, "Authentication required");
  TRY(identity::require_admin(*who));
  return false;
}

Result<void> Setup::check_claim(const Secret& code, const std::string& address) {
  auto checked = setup_code_.check(code);
  if (!checked) TRY(throttle_.spend(kClaimLimit, address));
  return checked;
}

Result<ImportReport> Setup::import(const std::optional<identity::Principal>& who,
                                   const ImportRequest& request, const std::string& address) {
  bool first_run = TRY(admit_import(who));
  std::string password_hash;
  if (first_run) {
    if (request.admin_username.empty() || request.admin_password.empty())
      return fail(Code::invalid, "admin_username and admin_password are required for first-run import.");
    TRY(check_claim(request.setup_code, address));
    TRY(identity::check_password(request.admin_password));
    password_hash = crypto::hash_password(request.admin_password);
  }
  if (!request.config.is_object() || request.config.empty())
    return fail(Code::invalid, "config must be a non-empty object.");
  auto body = sort_import(request.config, request.rules);
  if (body.is_empty() && !body.refused.empty()) return fail(Code::invalid, "{}", sentence(body.refused));

  identity::Principal author = who.value_or(identity::Principal{});
  if (first_run) {
    author.username = identity::fold_username(request.admin_username);
    author.address = address;
  }
  auto report = TRY(db::write<ImportReport>(sql_, [&](db::Transaction& tx) -> Result<ImportReport> {
    if (first_run) TRY(claim(tx, author, request, password_hash));
    return write(tx, author, body);
  }));
  if (first_run) setup_code_.forget();
  return report;
}

// Asked again inside of the transaction: of two who claim at once, one wins.
Result<void> Setup::claim(db::Transaction& tx, const identity::Principal& author,
                          const ImportRequest& request, std::string_view password_hash) {
  if (TRY(directory_.is_set_up(tx)))
    return fail(Code::conflict, "This instance was set up a moment ago; sign in.");
  const auto& name = author.username;
  // A user of that name who is no admin becomes the one: the setup code proves the operator.
  TRY(tx.exec("DELETE FROM users WHERE username = $1", {name}));
  TRY(directory_.add(tx, {name, request.admin_password, true, {}, {}}, password_hash));
  TRY(audit_.append(tx, audit::by(author, "user.create", name, {{"is_admin", true}, {"claim", true}})));
  return {};
}

Result<ImportReport> Setup::write(db::Transaction& tx, const identity::Principal& who,
                                  const ImportBody& body) {
  config::Changes changes(body.flat.begin(), body.flat.end());
  auto before = TRY(store_.all(tx));
  add_region_changes(body, before, changes);
  ImportReport report{body.flat.size(), body.regions, body.refused, warnings_about(body), ""};
  report.change_id = TRY(store_.apply(tx, changes, {who.username, "import"}));
  TRY(audit_.append(tx, audit::by(who, "config.import", std::nullopt, details_of(report, before, changes))));
  return report;
}

}  // namespace dash::setup
