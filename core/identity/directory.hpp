// Users, their grants and their workgroups. The first active admin makes the instance *set up*; until then
// only the one-time setup code can claim it. Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/secret.hpp"
#include "core/db/sql.hpp"
#include "core/identity/principal.hpp"

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
  std::vector<std::string> workgroups;  // made when new
};

class Directory {
 public:
  Directory(db::Sql& sql, const Clock& clock) : sql_(sql), clock_(clock) {}

  // 1 to 100 bytes, no control characters or white space at the ends; compared in lower case. Code::conflict
  // when taken.
  Result<void> add(const NewUser& user);
  Result<void> add(db::Transaction& tx, const NewUser& user, std::string_view password_hash);
  // Ends every session and keeps the tokens.
  Result<void> set_password(const std::string& username, const Secret& password);
  Result<void> set_active(const std::string& username, bool active);
  Result<void> set_admin(const std::string& username, bool admin);
  Result<void> grant(const std::string& username, const std::string& permission);
  Result<void> ungrant(const std::string& username, const std::string& permission);
  Result<std::vector<User>> list();
  Result<std::optional<User>> find(const std::string& username);
  Result<std::optional<User>> find(db::Transaction& tx, const std::string& username);

  // An active admin exists. Independent of every key.
  Result<bool> is_set_up();
  Result<bool> is_set_up(db::Transaction& tx);

  // Lower-case letters, digits and hyphens, 2 to 64, as the peer's rule.
  static Result<void> check_workgroup_name(std::string_view name);
  Result<void> make_workgroup(db::Transaction& tx, const std::string& name, const std::string& description);
  Result<void> add_member(db::Transaction& tx, const std::string& workgroup, const std::string& username);

 private:
  db::Sql& sql_;
  const Clock& clock_;
};

// The name under which an account is kept and compared.
std::string fold_username(std::string_view name);
// Anything but an empty one; the doors warn of a short one, below the floor of NIST SP 800-63B.
Result<void> check_password(const Secret& password);

}  // namespace dash::identity
