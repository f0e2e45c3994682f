#include "core/identity/tokens.hpp"

#include "core/base/clock_skew.hpp"
#include "core/base/log.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/hash.hpp"
#include "core/identity/sessions.hpp"

namespace dash::identity {
namespace {

constexpr std::int64_t kMaxTokenDays = 3650;
constexpr std::size_t kMaxNameBytes = 100;
// last_used_at is only displayed; a write on every request would cost an fsync each.
constexpr std::chrono::minutes kLastUsedInterval{5};

constexpr std::string_view kColumns = "id, name, username, created_at, expires_at, last_used_at, revoked_at";

TokenInfo token_from_row(const db::Row& row) {
  TokenInfo t{row.text(0), row.text(1), row.text(2), from_micros(row.integer(3)), {}, {}, !row.is_null(6)};
  if (!row.is_null(4)) t.expires_at = from_micros(row.integer(4));
  if (!row.is_null(5)) t.last_used_at = from_micros(row.integer(5));
  return t;
}

}  // namespace

bool is_personal_access_token(std::string_view text) {
  return text.starts_with(kTokenPrefix) || text.starts_with("vmcli_");
}

Result<void> check_new_token(const NewToken& token) {
  if (token.name.empty() || token.name.size() > kMaxNameBytes || has_control_character(token.name))
    return fail(Code::invalid, "a token's name has 1 to {} bytes and no control characters", kMaxNameBytes);
  if (token.days < 0 || token.days > kMaxTokenDays)
    return fail(Code::invalid, "a token lives 1 to {} days, or 0 for as long as it is not revoked",
                kMaxTokenDays);
  return {};
}

Result<IssuedToken> Tokens::issue(db::Transaction& tx, const NewToken& token) {
  TRY(check_new_token(token));
  auto user = TRY(directory_.find(tx, token.username));
  if (!user) return fail(Code::not_found, "there is no user '{}'", fold_username(token.username));
  if (!user->is_active)
    return fail(Code::conflict, "the account '{}' is disabled; enable it first", user->username);
  IssuedToken out{{crypto::uuid4(), token.name, user->username, clock_.now(), {}, {}, false},
                  Secret(std::string(kTokenPrefix) + crypto::random_hex(32))};
  if (token.days > 0) out.info.expires_at = out.info.created_at + std::chrono::hours(24 * token.days);
  db::Value expires = nullptr;
  if (out.info.expires_at) expires = to_micros(*out.info.expires_at);
  TRY(tx.exec(R"(INSERT INTO tokens (id, username, name, token_hash, created_at, expires_at)
                 VALUES ($1, $2, $3, $4, $5, $6))",
              {out.info.id, out.info.username, out.info.name,
               crypto::to_hex(crypto::sha256(out.token.expose())), to_micros(out.info.created_at), expires}));
  return out;
}

Result<void> Tokens::revoke(db::Transaction& tx, const std::string& id, const std::string& username) {
  auto changed = TRY(tx.exec(R"(UPDATE tokens SET revoked_at = COALESCE(revoked_at, $3)
                                WHERE id = $1 AND ($2 = '' OR username = $2))",
                             {id, fold_username(username), to_micros(clock_.now())}));
  if (changed == 0) return fail(Code::not_found, "Token not found");
  return {};
}

Result<std::vector<std::string>> Tokens::revoke_all(db::Transaction& tx, const std::string& username) {
  std::vector<std::string> ids;
  for (const auto& row : TRY(tx.query(R"(UPDATE tokens SET revoked_at = $2
                                         WHERE username = $1 AND revoked_at IS NULL
                                         RETURNING id)",
                                      {fold_username(username), to_micros(clock_.now())})))
    ids.push_back(row.text(0));
  return ids;
}

Result<std::vector<TokenInfo>> Tokens::list(const std::string& username) {
  return db::read<std::vector<TokenInfo>>(sql_, [&](db::Transaction& tx) -> Result<std::vector<TokenInfo>> {
    std::vector<TokenInfo> out;
    auto sql = fmt::format(
        "SELECT {} FROM tokens WHERE $1 = '' OR username = $1 ORDER BY created_at DESC, id", kColumns);
    for (const auto& row : TRY(tx.query(sql, {fold_username(username)}))) out.push_back(token_from_row(row));
    return out;
  });
}

Result<Principal> Tokens::authenticate(std::string_view token) {
  auto hash = crypto::to_hex(crypto::sha256(token));
  auto now = clock_.now();
  std::optional<TokenInfo> found;
  std::optional<User> user;
  TRY(sql_.read([&](db::Transaction& tx) -> Result<void> {
    auto rows = TRY(tx.query(fmt::format("SELECT {} FROM tokens WHERE token_hash = $1", kColumns), {hash}));
    if (rows.empty()) return {};
    found = token_from_row(rows[0]);
    user = TRY(directory_.find(tx, found->username));
    return {};
  }));
  if (!found || found->is_revoked || !user || !user->is_active)
    return fail(Code::unauthenticated, "Invalid or revoked token");
  if (found->expires_at && (*found->expires_at <= now || is_from_the_future(found->created_at, now)))
    return fail(Code::unauthenticated, "Token expired");
  record_use(*found, now);
  return principal_of(*user, Via::token, found->id);
}

void Tokens::record_use(const TokenInfo& token, Time now) {
  bool is_fresh = token.last_used_at && *token.last_used_at + kLastUsedInterval >= now &&
                  !is_from_the_future(*token.last_used_at, now);
  if (is_fresh) return;
  auto written = sql_.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("UPDATE tokens SET last_used_at = $2 WHERE id = $1", {token.id, to_micros(now)}));
    return {};
  });
  if (!written) log::warning("identity.token_use_not_recorded", {{"cause", written.error().message}});
}

}  // namespace dash::identity
