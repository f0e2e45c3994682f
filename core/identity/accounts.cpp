#include "core/identity/accounts.hpp"

#include "core/base/shape.hpp"
#include "core/crypto/password.hpp"
#include "core/identity/caller.hpp"

namespace dash::identity {
namespace {

// The operator at the shell has no account, whatever accounts are called.
bool is_own_account(const Principal& principal, const std::string& username) {
  return principal.via != Via::local && identity::fold_username(username) == principal.username;
}

bool revokes_tokens(const UserChange& change, bool is_own) {
  return change.revoke_tokens || (change.password && !is_own) || change.is_active == false;
}

Result<void> check_values(const UserChange& change) {
  if (change.password) TRY(identity::check_password(*change.password));
  for (const auto* permissions : {&change.grant, &change.ungrant})
    for (const auto& permission : *permissions) TRY(identity::check_permission(permission));
  return {};
}

OrderedJson change_details(const UserChange& change) {
  OrderedJson out = OrderedJson::object();
  if (change.password) out["password"] = "changed";
  if (change.is_admin) out["is_admin"] = *change.is_admin;
  if (change.is_active) out["is_active"] = *change.is_active;
  if (!change.grant.empty()) out["grant"] = change.grant;
  if (!change.ungrant.empty()) out["ungrant"] = change.ungrant;
  return out;
}

audit::Event failed_login_event(const Principal& principal, const std::string& reason) {
  return audit::make_event(principal, "user.login_failed", std::nullopt, {{"reason", reason}});
}

OrderedJson time_or_null(const std::optional<Time>& time) {
  return time ? OrderedJson(format_iso_micros(*time)) : OrderedJson();
}

}  // namespace

Result<identity::User> Accounts::get_user(db::Transaction& tx, const std::string& username) {
  auto user = TRY(deps_.directory.find(tx, username));
  if (!user) return fail(Code::not_found, "there is no user '{}'", username);
  return *std::move(user);
}

Result<identity::LoginResult> Accounts::sign_in(const SignInRequest& attempt) {
  Principal principal;
  principal.username = identity::attempted_username(attempt.username);
  principal.address = attempt.address;
  principal.request_id = attempt.request_id;
  auto checked = TRY(deps_.passwords.verify(attempt.username, attempt.password, attempt.address));
  std::optional<Error> refusal;
  identity::LoginResult login;
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    refusal = TRY(deps_.passwords.conclude(tx, checked));
    if (!refusal) login = TRY(deps_.sessions.open(tx, checked.subject));
    TRY(deps_.audit.append(
        tx, refusal ? failed_login_event(principal, refusal->message)
                    : audit::make_event(principal, "user.login", std::nullopt, OrderedJson::object())));
    return {};
  }));
  if (refusal) return Failure(*refusal);
  return login;
}

Result<identity::User> Accounts::add(const Principal& principal, const identity::NewUser& user) {
  TRY(require_sign_in(principal));
  TRY(require_admin(principal));
  TRY(identity::check_new_user(user));
  auto hash = crypto::hash_password(user.password);
  identity::User created;
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(identity::confirm_caller(tx, principal));
    TRY(deps_.directory.add(tx, user, hash));
    created = TRY(get_user(tx, user.username));
    TRY(deps_.audit.append(tx, audit::make_event(principal, "user.create", created.username,
                                                 {{"is_admin", created.is_admin},
                                                  {"workgroups", created.workgroups},
                                                  {"grants", created.grants}})));
    return {};
  }));
  if (created.is_admin) deps_.setup_code.remove();
  return created;
}

Result<void> Accounts::authorize_change(const Principal& principal, bool is_own, const UserChange& change) {
  TRY(require_sign_in(principal));
  bool of_credentials =
      !change.is_admin && !change.is_active && change.grant.empty() && change.ungrant.empty();
  if (!(is_own && of_credentials)) TRY(require_admin(principal));
  if (is_own && (change.is_admin == false || change.is_active == false))
    return fail(Code::invalid, "you cannot take your own admin flag or account away; another admin can");
  return {};
}

Result<identity::User> Accounts::change(const Principal& principal, const std::string& username,
                                        const UserChange& change) {
  bool is_own = is_own_account(principal, username);
  TRY(authorize_change(principal, is_own, change));
  TRY(check_values(change));
  bool needs_current = is_own && change.password;
  if (needs_current && !change.current_password) return missing_member("current_password");
  TRY(deps_.sql.read([&](db::Transaction& tx) -> Result<void> {
    TRY(get_user(tx, username));  // before the time that a hash takes
    return {};
  }));
  identity::PasswordAttempt attempt;
  if (needs_current)
    attempt = TRY(deps_.passwords.verify(principal.username, *change.current_password, principal.address));
  auto hash = change.password ? crypto::hash_password(*change.password) : std::string();
  std::optional<Error> refusal;
  identity::User changed;
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(identity::confirm_caller(tx, principal));
    if (needs_current) refusal = TRY(check_current(tx, principal, attempt));
    if (refusal) return {};
    auto user = TRY(get_user(tx, username));
    changed = TRY(apply(tx, principal, user, change, hash));
    return {};
  }));
  if (refusal) return Failure(*refusal);
  return changed;
}

// A wrong password is counted and recorded, and changes nothing else.
Result<std::optional<Error>> Accounts::check_current(db::Transaction& tx, const Principal& principal,
                                                     const identity::PasswordAttempt& attempt) {
  if (!TRY(deps_.passwords.conclude(tx, attempt))) return std::optional<Error>();
  TRY(deps_.audit.append(tx, failed_login_event(principal, "The current password is wrong")));
  return std::optional(make_error(Code::forbidden, "The current password is wrong; nothing was changed."));
}

Result<identity::User> Accounts::apply(db::Transaction& tx, const Principal& principal,
                                       const identity::User& user, const UserChange& change,
                                       const std::string& password_hash) {
  const auto& name = user.username;
  auto details = change_details(change);
  if (change.password) TRY(deps_.directory.set_password(tx, name, password_hash));
  if (change.is_admin) TRY(deps_.directory.set_admin(tx, name, *change.is_admin));
  if (change.is_active) TRY(deps_.directory.set_active(tx, name, *change.is_active));
  for (const auto& permission : change.grant) TRY(deps_.directory.grant(tx, name, permission));
  for (const auto& permission : change.ungrant) TRY(deps_.directory.ungrant(tx, name, permission));
  if (revokes_tokens(change, is_own_account(principal, name)))
    details["tokens_revoked"] = TRY(revoke_all_tokens(tx, principal, name));
  TRY(deps_.audit.append(tx, audit::make_event(principal, "user.update", name, std::move(details))));
  return get_user(tx, name);
}

// Writes an entry that names them, as single revocations would.
Result<std::int64_t> Accounts::revoke_all_tokens(db::Transaction& tx, const Principal& principal,
                                                 const std::string& username) {
  auto ids = TRY(deps_.tokens.revoke_all(tx, username));
  if (!ids.empty())
    TRY(deps_.audit.append(tx, audit::make_event(principal, "tokens_revoked", username, {{"tokens", ids}})));
  return static_cast<std::int64_t>(ids.size());
}

Result<std::vector<identity::User>> Accounts::list(const Principal& principal) {
  TRY(require_admin(principal));
  return deps_.directory.list();
}

Result<identity::IssuedToken> Accounts::issue_token(const Principal& principal,
                                                    const identity::NewToken& token) {
  TRY(require_sign_in(principal));
  if (!is_own_account(principal, token.username)) TRY(require_admin(principal));
  TRY(identity::check_new_token(token));
  using Issued = identity::IssuedToken;
  return db::write<Issued>(deps_.sql, [&](db::Transaction& tx) -> Result<Issued> {
    TRY(identity::confirm_caller(tx, principal));
    auto issued = TRY(deps_.tokens.issue(tx, token));
    TRY(deps_.audit.append(
        tx, audit::make_event(principal, "token.create", issued.info.id,
                              {{"name", issued.info.name}, {"username", issued.info.username}})));
    return issued;
  });
}

Result<std::vector<identity::TokenInfo>> Accounts::list_tokens(const Principal& principal,
                                                               const std::string& username) {
  if (!is_own_account(principal, username)) TRY(require_admin(principal));
  return deps_.tokens.list(username);
}

Result<void> Accounts::revoke_token(const Principal& principal, const std::string& id) {
  bool is_itself = principal.via == Via::token && id == principal.credential_id;
  if (!is_itself) TRY(require_sign_in(principal));
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(identity::confirm_caller(tx, principal));
    TRY(deps_.tokens.revoke(tx, id, principal.is_admin ? "" : principal.username));
    TRY(deps_.audit.append(tx, audit::make_event(principal, "token.revoke", id, OrderedJson::object())));
    return {};
  });
}

// The members of the deployed dashboards come first. "id" is the name, which never changes.
OrderedJson to_json(const identity::User& u) {
  auto permissions = OrderedJson::object();
  for (const auto& grant : u.grants) {
    auto colon = grant.find(':');
    auto level = colon == grant.npos ? "use" : grant.substr(colon + 1);
    permissions[grant.substr(0, colon)].push_back(level);
  }
  return {{"id", u.username},
          {"username", u.username},
          {"full_name", nullptr},
          {"email", nullptr},
          {"workgroups", u.workgroups},
          {"is_active", u.is_active},
          {"is_admin", u.is_admin},
          {"auth_provider", "local"},
          {"mfa_required", false},
          {"permissions", permissions},
          {"created_at", format_iso_micros(u.created_at)}};
}

OrderedJson to_json(const identity::TokenInfo& t) {
  return {{"id", t.id},
          {"name", t.name},
          {"username", t.username},
          {"created_at", format_iso_micros(t.created_at)},
          {"expires_at", time_or_null(t.expires_at)},
          {"last_used_at", time_or_null(t.last_used_at)},
          {"is_active", !t.is_revoked}};
}

}  // namespace dash::identity
