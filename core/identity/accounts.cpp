#include "core/identity/accounts.hpp"

#include "core/base/shape.hpp"
#include "core/crypto/password.hpp"
#include "core/identity/caller.hpp"

namespace dash::identity {
namespace {

// The operator at the shell is nobody's account, whatever accounts are called.
bool is_own_account(const Principal& who, const std::string& username) {
  return who.via != Via::local && identity::fold_username(username) == who.username;
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

OrderedJson what_changed(const UserChange& change) {
  OrderedJson out = OrderedJson::object();
  if (change.password) out["password"] = "changed";
  if (change.is_admin) out["is_admin"] = *change.is_admin;
  if (change.is_active) out["is_active"] = *change.is_active;
  if (!change.grant.empty()) out["grant"] = change.grant;
  if (!change.ungrant.empty()) out["ungrant"] = change.ungrant;
  return out;
}

audit::Entry failed_login(const Principal& who, const std::string& reason) {
  return audit::by(who, "user.login_failed", std::nullopt, {{"reason", reason}});
}

OrderedJson time_or_null(const std::optional<Time>& time) {
  return time ? OrderedJson(format_iso_micros(*time)) : OrderedJson();
}

}  // namespace

Result<identity::User> Accounts::need(db::Transaction& tx, const std::string& username) {
  auto user = TRY(d_.directory.find(tx, username));
  if (!user) return fail(Code::not_found, "there is no user '{}'", username);
  return *std::move(user);
}

Result<identity::Login> Accounts::sign_in(const SignIn& attempt) {
  Principal who;
  who.username = identity::attempted_username(attempt.username);
  who.address = attempt.address;
  who.request_id = attempt.request_id;
  auto tried = TRY(d_.passwords.verify(attempt.username, attempt.password, attempt.address));
  std::optional<Error> refusal;
  identity::Login login;
  TRY(d_.sql.write([&](db::Transaction& tx) -> Result<void> {
    refusal = TRY(d_.passwords.conclude(tx, tried));
    if (!refusal) login = TRY(d_.sessions.open(tx, tried.subject));
    TRY(d_.audit.append(tx, refusal ? failed_login(who, refusal->message)
                                    : audit::by(who, "user.login", std::nullopt, OrderedJson::object())));
    return {};
  }));
  if (refusal) return Failure(*refusal);
  return login;
}

Result<identity::User> Accounts::add(const Principal& who, const identity::NewUser& user) {
  TRY(require_sign_in(who));
  TRY(require_admin(who));
  TRY(identity::check_new_user(user));
  auto hash = crypto::hash_password(user.password);
  identity::User made;
  TRY(d_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(identity::confirm_caller(tx, who));
    TRY(d_.directory.add(tx, user, hash));
    made = TRY(need(tx, user.username));
    TRY(d_.audit.append(
        tx,
        audit::by(who, "user.create", made.username,
                  {{"is_admin", made.is_admin}, {"workgroups", made.workgroups}, {"grants", made.grants}})));
    return {};
  }));
  if (made.is_admin) d_.setup_code.forget();
  return made;
}

Result<void> Accounts::authorize_change(const Principal& who, bool is_own, const UserChange& change) {
  TRY(require_sign_in(who));
  bool of_credentials =
      !change.is_admin && !change.is_active && change.grant.empty() && change.ungrant.empty();
  if (!(is_own && of_credentials)) TRY(require_admin(who));
  if (is_own && (change.is_admin == false || change.is_active == false))
    return fail(Code::invalid, "you cannot take your own admin flag or account away; another admin can");
  return {};
}

Result<identity::User> Accounts::change(const Principal& who, const std::string& username,
                                        const UserChange& change) {
  bool is_own = is_own_account(who, username);
  TRY(authorize_change(who, is_own, change));
  TRY(check_values(change));
  bool needs_current = is_own && change.password;
  if (needs_current && !change.current_password) return missing_member("current_password");
  TRY(d_.sql.read([&](db::Transaction& tx) -> Result<void> {
    TRY(need(tx, username));  // before the time that a hash takes
    return {};
  }));
  identity::PasswordAttempt attempt;
  if (needs_current) attempt = TRY(d_.passwords.verify(who.username, *change.current_password, who.address));
  auto hash = change.password ? crypto::hash_password(*change.password) : std::string();
  std::optional<Error> refusal;
  identity::User changed;
  TRY(d_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(identity::confirm_caller(tx, who));
    if (needs_current) refusal = TRY(check_current(tx, who, attempt));
    if (refusal) return {};
    auto user = TRY(need(tx, username));
    changed = TRY(apply(tx, who, user, change, hash));
    return {};
  }));
  if (refusal) return Failure(*refusal);
  return changed;
}

// A wrong one is counted and recorded, and changes nothing else.
Result<std::optional<Error>> Accounts::check_current(db::Transaction& tx, const Principal& who,
                                                     const identity::PasswordAttempt& attempt) {
  if (!TRY(d_.passwords.conclude(tx, attempt))) return std::optional<Error>();
  TRY(d_.audit.append(tx, failed_login(who, "The current password is wrong")));
  return std::optional(
      Error{Code::forbidden, "The current password is wrong; nothing was changed.", {}, {}, {}});
}

Result<identity::User> Accounts::apply(db::Transaction& tx, const Principal& who, const identity::User& user,
                                       const UserChange& change, const std::string& password_hash) {
  const auto& name = user.username;
  auto details = what_changed(change);
  if (change.password) TRY(d_.directory.set_password(tx, name, password_hash));
  if (change.is_admin) TRY(d_.directory.set_admin(tx, name, *change.is_admin));
  if (change.is_active) TRY(d_.directory.set_active(tx, name, *change.is_active));
  for (const auto& permission : change.grant) TRY(d_.directory.grant(tx, name, permission));
  for (const auto& permission : change.ungrant) TRY(d_.directory.ungrant(tx, name, permission));
  if (revokes_tokens(change, is_own_account(who, name)))
    details["tokens_revoked"] = TRY(revoke_all_tokens(tx, who, name));
  TRY(d_.audit.append(tx, audit::by(who, "user.update", name, std::move(details))));
  return need(tx, name);
}

// An entry of its own names them, as one would that revoked each.
Result<std::int64_t> Accounts::revoke_all_tokens(db::Transaction& tx, const Principal& who,
                                                 const std::string& username) {
  auto ids = TRY(d_.tokens.revoke_all(tx, username));
  if (!ids.empty()) TRY(d_.audit.append(tx, audit::by(who, "tokens_revoked", username, {{"tokens", ids}})));
  return static_cast<std::int64_t>(ids.size());
}

Result<std::vector<identity::User>> Accounts::list(const Principal& who) {
  TRY(require_admin(who));
  return d_.directory.list();
}

Result<identity::IssuedToken> Accounts::issue_token(const Principal& who, const identity::NewToken& wanted) {
  TRY(require_sign_in(who));
  if (!is_own_account(who, wanted.username)) TRY(require_admin(who));
  TRY(identity::check_new_token(wanted));
  using Issued = identity::IssuedToken;
  return db::write<Issued>(d_.sql, [&](db::Transaction& tx) -> Result<Issued> {
    TRY(identity::confirm_caller(tx, who));
    auto issued = TRY(d_.tokens.issue(tx, wanted));
    TRY(d_.audit.append(tx, audit::by(who, "token.create", issued.info.id,
                                      {{"name", issued.info.name}, {"username", issued.info.username}})));
    return issued;
  });
}

Result<std::vector<identity::TokenInfo>> Accounts::list_tokens(const Principal& who,
                                                               const std::string& username) {
  if (!is_own_account(who, username)) TRY(require_admin(who));
  return d_.tokens.list(username);
}

Result<void> Accounts::revoke_token(const Principal& who, const std::string& id) {
  bool is_itself = who.via == Via::token && id == who.credential_id;
  if (!is_itself) TRY(require_sign_in(who));
  return d_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(identity::confirm_caller(tx, who));
    TRY(d_.tokens.revoke(tx, id, who.is_admin ? "" : who.username));
    TRY(d_.audit.append(tx, audit::by(who, "token.revoke", id, OrderedJson::object())));
    return {};
  });
}

// The peer's members come first; "id" is the name, which never changes.
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
