#include "core/app/accounts.hpp"

#include "core/audit/log.hpp"
#include "core/base/utf8.hpp"
#include "core/identity/setup_code.hpp"

namespace dash::app {
namespace {

constexpr std::size_t kMostOfAName = 100;  // bytes, as of a user's name

Result<identity::User> must_find(Services& s, const std::string& username) {
  auto user = TRY(s.directory.find(username));
  if (!user) return fail(Code::not_found, "there is no user '{}'", username);
  return *std::move(user);
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

OrderedJson time_or_null(const std::optional<Time>& time) {
  return time ? OrderedJson(format_iso_micros(*time)) : OrderedJson();
}

// What was typed may be anything.
std::string attempted_name(const std::string& typed) {
  auto name = identity::fold_username(typed);
  return is_utf8(name) && name.size() <= kMostOfAName ? name : "(no user name)";
}

}  // namespace

Result<identity::Login> sign_in(Services& s, const SignIn& attempt) {
  identity::Principal who;
  who.username = attempted_name(attempt.username);
  who.address = attempt.address;
  who.request_id = attempt.request_id;
  auto login = s.sessions.login(attempt.username, attempt.password, attempt.address);
  if (login) TRY(s.audit.append(audit::by(who, "user.login", std::nullopt, OrderedJson::object())));
  bool refused =
      !login && (login.error().code == Code::unauthenticated || login.error().code == Code::forbidden);
  if (refused)
    TRY(s.audit.append(
        audit::by(who, "user.login_failed", std::nullopt, {{"reason", login.error().message}})));
  return login;
}

Result<identity::User> add_user(Services& s, const identity::Principal& who, const identity::NewUser& user) {
  TRY(identity::require_admin(who));
  TRY(s.directory.add(user));
  auto made = TRY(must_find(s, user.username));
  TRY(s.audit.append(
      audit::by(who, "user.create", made.username,
                {{"is_admin", made.is_admin}, {"workgroups", made.workgroups}, {"grants", made.grants}})));
  if (made.is_admin) s.setup_code.forget();
  return made;
}

Result<identity::User> change_user(Services& s, const identity::Principal& who, const std::string& username,
                                   const UserChange& change) {
  bool self = identity::fold_username(username) == who.username;
  bool only_password =
      !change.is_admin && !change.is_active && change.grant.empty() && change.ungrant.empty();
  if (!(self && only_password)) TRY(identity::require_admin(who));
  if (self && (change.is_admin == false || change.is_active == false))
    return fail(Code::invalid, "you cannot take your own admin flag or account away; another admin can");
  auto user = TRY(must_find(s, username));
  if (change.password) TRY(s.directory.set_password(user.username, *change.password));
  if (change.is_admin) TRY(s.directory.set_admin(user.username, *change.is_admin));
  if (change.is_active) TRY(s.directory.set_active(user.username, *change.is_active));
  for (const auto& permission : change.grant) TRY(s.directory.grant(user.username, permission));
  for (const auto& permission : change.ungrant) TRY(s.directory.ungrant(user.username, permission));
  TRY(s.audit.append(audit::by(who, "user.update", user.username, what_changed(change))));
  return must_find(s, username);
}

Result<std::vector<identity::User>> list_users(Services& s, const identity::Principal& who) {
  TRY(identity::require_admin(who));
  return s.directory.list();
}

Result<identity::IssuedToken> issue_token(Services& s, const identity::Principal& who,
                                          const std::string& name, const std::string& username,
                                          std::int64_t days) {
  if (identity::fold_username(username) != who.username) TRY(identity::require_admin(who));
  auto issued = TRY(s.tokens.issue(name, username, days));
  TRY(s.audit.append(
      audit::by(who, "token.create", issued.info.id, {{"name", name}, {"username", issued.info.username}})));
  return issued;
}

Result<std::vector<identity::TokenInfo>> list_tokens(Services& s, const identity::Principal& who,
                                                     const std::string& username) {
  if (identity::fold_username(username) != who.username) TRY(identity::require_admin(who));
  return s.tokens.list(username);
}

Result<void> revoke_token(Services& s, const identity::Principal& who, const std::string& id) {
  TRY(s.tokens.revoke(id, who.is_admin ? "" : who.username));
  TRY(s.audit.append(audit::by(who, "token.revoke", id, OrderedJson::object())));
  return {};
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

}  // namespace dash::app
