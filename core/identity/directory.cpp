#include "core/identity/directory.hpp"

#include <algorithm>
#include <cctype>

#include "core/base/text.hpp"
#include "core/identity/login_throttle.hpp"

namespace dash::identity {
namespace {

constexpr std::size_t kMaxUsernameBytes = 100;
constexpr std::ptrdiff_t kMinPasswordCharacters = 8;

Result<void> check_new_username(std::string_view name) {
  auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("._@+-").find(c) != std::string_view::npos;
  };
  if (name.empty() || name.size() > kMaxUsernameBytes || !std::ranges::all_of(name, fits))
    return fail(Code::invalid, "a user name has 1 to {} of the ASCII letters, digits and . _ @ + -",
                kMaxUsernameBytes);
  return {};
}

Result<db::Rows> active_admins(db::Transaction& tx) {
  return tx.query("SELECT 1 FROM users WHERE is_admin = 1 AND is_active = 1 LIMIT 1");
}

Result<std::vector<std::string>> query_names(db::Transaction& tx, std::string_view sql,
                                             const std::string& username) {
  std::vector<std::string> out;
  for (const auto& row : TRY(tx.query(sql, {username}))) out.push_back(row.text(0));
  std::ranges::sort(out);  // few: the database would open a sorter for them
  return out;
}

Result<User> user_from_row(db::Transaction& tx, const db::Row& row) {
  User user{row.text(0), row.flag(1), row.flag(2), from_micros(row.integer(3)), {}, {}};
  user.grants = TRY(query_names(tx, "SELECT permission FROM grants WHERE username = $1", user.username));
  user.workgroups =
      TRY(query_names(tx, "SELECT workgroup FROM workgroup_members WHERE username = $1", user.username));
  return user;
}

Result<void> check_user_exists(std::int64_t changed, const std::string& username) {
  if (changed == 0) return fail(Code::not_found, "there is no user '{}'", username);
  return {};
}

// Without an active admin the instance would be claimable again.
Result<void> check_has_admin(db::Transaction& tx, const std::string& username) {
  if (TRY(active_admins(tx)).empty()) return fail(Code::conflict, "'{}' is the last active admin", username);
  return {};
}

}  // namespace

std::string fold_username(std::string_view name) {
  std::string out(name);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  auto first = out.find_first_not_of(" \t\r\n");
  auto last = out.find_last_not_of(" \t\r\n");
  return first == out.npos ? "" : out.substr(first, last - first + 1);
}

bool can_be_username(std::string_view name) {
  return !name.empty() && name.size() <= kMaxUsernameBytes &&
         std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) > 32 && c != 127; });
}

Result<void> check_password(const Secret& password) {
  auto begins_character = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  if (std::ranges::count_if(password.expose(), begins_character) < kMinPasswordCharacters)
    return fail(Code::invalid, "a password has at least {} characters", kMinPasswordCharacters);
  return {};
}

// A misspelt permission would be a grant that no check reads.
Result<void> check_permission(std::string_view permission) {
  auto colon = permission.find(':');
  auto is_word = [](std::string_view word) {
    return !word.empty() &&
           std::ranges::all_of(word, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  };
  if (colon == permission.npos || !is_word(permission.substr(0, colon)) ||
      !is_word(permission.substr(colon + 1)))
    return fail(Code::invalid, "'{}' is not a permission; write one like change_windows:use", permission);
  return {};
}

Result<void> check_new_user(const NewUser& user) {
  TRY(check_new_username(fold_username(user.username)));
  TRY(check_password(user.password));
  for (const auto& permission : user.grants) TRY(check_permission(permission));
  for (const auto& typed : user.workgroups) TRY(Directory::check_workgroup_name(lower(trim(typed))));
  return {};
}

Result<void> Directory::check_workgroup_name(std::string_view name) {
  auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  bool ok = name.size() >= 2 && name.size() <= 64 && alnum(name.front()) && alnum(name.back()) &&
            std::ranges::all_of(name, [&](char c) { return alnum(c) || c == '-'; });
  if (!ok)
    return fail(
        Code::invalid,
        "a workgroup's name has 2 to 64 lower-case letters, digits and hyphens, and no hyphen at its ends");
  return {};
}

Result<void> Directory::make_workgroup(db::Transaction& tx, const std::string& name,
                                       const std::string& description) {
  TRY(check_workgroup_name(name));
  TRY(tx.exec(
      R"(INSERT INTO workgroups (name, description, created_at, change_window_id, require_change_window)
         VALUES ($1, $2, $3, NULL, 0))",
      {name, description, to_micros(clock_.now())}));
  return {};
}

Result<void> Directory::add_member(db::Transaction& tx, const std::string& workgroup,
                                   const std::string& username) {
  TRY(tx.exec("INSERT INTO workgroup_members (workgroup, username) VALUES ($1, $2) ON CONFLICT DO NOTHING",
              {workgroup, username}));
  return {};
}

Result<void> Directory::add(db::Transaction& tx, const NewUser& user, std::string_view password_hash) {
  TRY(check_new_user(user));
  auto name = fold_username(user.username);
  auto inserted =
      TRY(tx.exec(R"(INSERT INTO users (username, password_hash, is_admin, is_active, created_at)
                     VALUES ($1, $2, $3, 1, $4)
                     ON CONFLICT DO NOTHING)",
                  {name, std::string(password_hash), std::int64_t{user.is_admin}, to_micros(clock_.now())}));
  if (inserted == 0)
    return fail(Code::conflict, "the user '{}' already exists; `dashctl user passwd` changes the password",
                name);
  TRY(lift_lock(tx, name));
  for (const auto& permission : user.grants) TRY(grant(tx, name, permission));
  for (const auto& typed : user.workgroups) {
    auto workgroup = lower(trim(typed));
    auto existing = TRY(tx.query("SELECT 1 FROM workgroups WHERE name = $1", {workgroup}));
    if (existing.empty()) TRY(make_workgroup(tx, workgroup, ""));
    TRY(add_member(tx, workgroup, name));
  }
  return {};
}

Result<void> Directory::set_password(db::Transaction& tx, const std::string& username,
                                     std::string_view password_hash) {
  auto name = fold_username(username);
  TRY(check_user_exists(TRY(tx.exec("UPDATE users SET password_hash = $2 WHERE username = $1",
                                    {name, std::string(password_hash)})),
                        name));
  TRY(tx.exec("DELETE FROM sessions WHERE username = $1", {name}));
  return lift_lock(tx, name);
}

Result<void> Directory::set_active(db::Transaction& tx, const std::string& username, bool active) {
  auto name = fold_username(username);
  bool was_set_up = TRY(is_set_up(tx));
  TRY(check_user_exists(
      TRY(tx.exec("UPDATE users SET is_active = $2 WHERE username = $1", {name, std::int64_t{active}})),
      name));
  if (!active) TRY(tx.exec("DELETE FROM sessions WHERE username = $1", {name}));
  if (was_set_up) TRY(check_has_admin(tx, name));
  return {};
}

Result<void> Directory::set_admin(db::Transaction& tx, const std::string& username, bool admin) {
  auto name = fold_username(username);
  bool was_set_up = TRY(is_set_up(tx));
  TRY(check_user_exists(
      TRY(tx.exec("UPDATE users SET is_admin = $2 WHERE username = $1", {name, std::int64_t{admin}})), name));
  if (was_set_up) TRY(check_has_admin(tx, name));
  return {};
}

Result<void> Directory::grant(db::Transaction& tx, const std::string& username,
                              const std::string& permission) {
  TRY(check_permission(permission));
  TRY(tx.exec("INSERT INTO grants (username, permission) VALUES ($1, $2) ON CONFLICT DO NOTHING",
              {fold_username(username), permission}));
  return {};
}

Result<void> Directory::ungrant(db::Transaction& tx, const std::string& username,
                                const std::string& permission) {
  TRY(check_permission(permission));
  TRY(tx.exec("DELETE FROM grants WHERE username = $1 AND permission = $2",
              {fold_username(username), permission}));
  return {};
}

Result<std::vector<User>> Directory::list() {
  return db::read<std::vector<User>>(sql_, [&](db::Transaction& tx) -> Result<std::vector<User>> {
    std::vector<User> out;
    for (const auto& row :
         TRY(tx.query("SELECT username, is_admin, is_active, created_at FROM users ORDER BY username")))
      out.push_back(TRY(user_from_row(tx, row)));
    return out;
  });
}

Result<std::optional<User>> Directory::find(const std::string& username) {
  using MaybeUser = std::optional<User>;
  auto name = fold_username(username);
  if (!can_be_username(name)) return MaybeUser();  // names of any size would fill the cache
  auto user = TRY(cache_.get(sql_, name, [&] {
    return db::read<MaybeUser>(sql_, [&](db::Transaction& tx) { return find(tx, name); });
  }));
  return *user;
}

Result<std::optional<User>> Directory::find(db::Transaction& tx, const std::string& username) {
  if (!can_be_username(fold_username(username))) return std::optional<User>();
  auto rows = TRY(tx.query("SELECT username, is_admin, is_active, created_at FROM users WHERE username = $1",
                           {fold_username(username)}));
  if (rows.empty()) return std::optional<User>();
  return std::optional<User>(TRY(user_from_row(tx, rows[0])));
}

Result<bool> Directory::is_set_up() {
  return db::read<bool>(sql_, [&](db::Transaction& tx) { return is_set_up(tx); });
}

Result<bool> Directory::is_set_up(db::Transaction& tx) { return !TRY(active_admins(tx)).empty(); }

}  // namespace dash::identity
