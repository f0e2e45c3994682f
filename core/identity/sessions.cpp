#include "core/identity/sessions.hpp"

#include "core/base/clock_skew.hpp"
#include "core/crypto/hash.hpp"
#include "core/crypto/jwt.hpp"

namespace dash::identity {
namespace {

Failure bad_token() { return fail(Code::unauthenticated, "Invalid or expired token"); }

}  // namespace

Principal principal_of(const User& user, Via via, std::string credential_id) {
  Principal principal;
  principal.username = user.username;
  principal.is_admin = user.is_admin;
  principal.grants = {user.grants.begin(), user.grants.end()};
  principal.workgroups = {user.workgroups.begin(), user.workgroups.end()};
  principal.via = via;
  principal.credential_id = std::move(credential_id);
  return principal;
}

Sessions::Sessions(db::Sql& sql, const Clock& clock, Directory& directory, Secret key)
    : sql_(sql), clock_(clock), directory_(directory), throttle_(sql, clock), key_(std::move(key)) {}

Result<LoginResult> Sessions::open(db::Transaction& tx, const LoginSubject& subject) {
  auto user = TRY(directory_.find(tx, subject.username));
  if (!user) return fail(Code::internal, "the account was removed while it signed in");
  auto id = crypto::uuid4();
  auto now = clock_.now();
  auto expires = now + kSessionLifetime;
  TRY(tx.exec("DELETE FROM sessions WHERE expires_at <= $1 OR expires_at > $2",
              {to_micros(now), to_micros(expires + kMaxClockSkew)}));
  TRY(tx.exec("INSERT INTO sessions (id, username, expires_at) VALUES ($1, $2, $3)",
              {id, user->username, to_micros(expires)}));
  TRY(throttle_.record_address(tx, subject));
  OrderedJson claims{
      {"sub", user->username},
      {"exp", std::chrono::duration_cast<std::chrono::seconds>(expires.time_since_epoch()).count()},
      {"type", "access"},
      {"sid", id}};
  return LoginResult{crypto::sign_jwt(key_, claims), user->username, user->workgroups};
}

Result<Json> Sessions::claims_of(std::string_view jwt) {
  auto claims = crypto::verify_jwt(key_, jwt, clock_.now());
  if (!claims) return bad_token();
  if (string_member(*claims, "type") != "access" || !string_member(*claims, "sub") ||
      !string_member(*claims, "sid"))
    return bad_token();
  return claims;
}

Result<Principal> Sessions::authenticate(std::string_view jwt) {
  auto claims = TRY(claims_of(jwt));
  auto id = claims["sid"].get<std::string>(), name = claims["sub"].get<std::string>();
  auto session = TRY(cache_.get(sql_, id + " " + name, [&] { return find_session(id, name); }));
  auto now = clock_.now();
  if (!*session || (*session)->expires_at <= now ||
      is_from_the_future((*session)->expires_at - kSessionLifetime, now))
    return bad_token();
  return principal_of((*session)->user, Via::session, id);
}

Result<std::optional<Sessions::Session>> Sessions::find_session(const std::string& id,
                                                                const std::string& username) {
  using MaybeSession = std::optional<Session>;
  return db::read<MaybeSession>(sql_, [&](db::Transaction& tx) -> Result<MaybeSession> {
    auto rows =
        TRY(tx.query("SELECT expires_at FROM sessions WHERE id = $1 AND username = $2", {id, username}));
    if (rows.empty()) return MaybeSession();
    auto user = TRY(directory_.find(tx, username));
    if (!user || !user->is_active) return MaybeSession();
    return MaybeSession(Session{*std::move(user), from_micros(rows[0].integer(0))});
  });
}

Result<void> Sessions::logout(std::string_view jwt) {
  auto claims = TRY(claims_of(jwt));
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("DELETE FROM sessions WHERE id = $1", {claims["sid"].get<std::string>()}));
    return {};
  });
}

}  // namespace dash::identity
