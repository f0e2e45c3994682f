// Users, their grants and their workgroups. The first active admin makes the instance *set up*; until then
// only the one-time setup code can claim it. Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/principal.hpp"
#include "core/base/secret.hpp"
#include "core/db/sql.hpp"
#include "core/db/versioned_cache.hpp"

namespace dash::identity {

struct User {
  std::string username;
  bool is_admin = false;
  bool is_active = true;
  Time created_at;
  std::vector<std::string> grants;
  std::vector<std::string> workgroups;
};

struct NewUser {
  std::string username;
  Secret password;
  bool is_admin = false;
  std::vector<std::string> grants;
  std::vector<std::string> workgroups;  // created when new
};

// Checks permissions and workgroup names as well. Code::invalid.
Result<void> check_new_user(const NewUser& user);
Result<void> check_permission(std::string_view permission);

class Directory {
 public:
  Directory(db::Sql& sql, const Clock& clock) : sql_(sql), clock_(clock) {}

  // Changes are part of the caller's transaction, beside the audit entry that records them. Names are folded.

  // Fails with Code::invalid from check_new_user(), and with Code::conflict when the name is taken.
  Result<void> add(db::Transaction& tx, const NewUser& user, std::string_view password_hash);
  // Ends every session, keeps the tokens, and lifts the lock of failed logins.
  Result<void> set_password(db::Transaction& tx, const std::string& username, std::string_view password_hash);
  // Disabling ends every session. Fails with Code::conflict where the last active admin would be lost.
  Result<void> set_active(db::Transaction& tx, const std::string& username, bool active);
  // Fails with Code::conflict, as above.
  Result<void> set_admin(db::Transaction& tx, const std::string& username, bool admin);
  Result<void> grant(db::Transaction& tx, const std::string& username, const std::string& permission);
  Result<void> ungrant(db::Transaction& tx, const std::string& username, const std::string& permission);

  Result<std::vector<User>> list();
  Result<std::optional<User>> find(const std::string& username);
  Result<std::optional<User>> find(db::Transaction& tx, const std::string& username);

  // Returns whether an active admin exists. Independent of every key.
  Result<bool> is_set_up();
  Result<bool> is_set_up(db::Transaction& tx);

  // Checks a name: lower-case letters, digits and hyphens, 2 to 64. It is the rule of the deployed
  // dashboards.
  static Result<void> check_workgroup_name(std::string_view name);
  Result<void> make_workgroup(db::Transaction& tx, const std::string& name, const std::string& description);
  Result<void> add_member(db::Transaction& tx, const std::string& workgroup, const std::string& username);

 private:
  db::Sql& sql_;
  const Clock& clock_;
  db::VersionedCache<std::optional<User>> cache_;
};

// Returns the name under which an account is stored and compared.
std::string fold_username(std::string_view name);
// Checks names that may already exist: 1 to 100 bytes without spaces and control characters. New names have 1
// to 100 of the ASCII letters, digits and ._@+-
bool can_be_username(std::string_view name);
// Checks for at least 8 characters (NIST SP 800-63B §5.1.1). Older, shorter passwords stay valid.
Result<void> check_password(const Secret& password);

}  // namespace dash::identity
