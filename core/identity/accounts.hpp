// Users and tokens with authorisation and audit. Sign-in, `dashctl user`, `dashctl token`, /api/users and
// /api/tokens call it. Each change is one transaction that includes its audit entries. A personal access
// token may read and revoke itself; everything else needs a sign-in (Code::forbidden).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/base/json.hpp"
#include "core/identity/directory.hpp"
#include "core/identity/passwords.hpp"
#include "core/identity/sessions.hpp"
#include "core/identity/setup_code.hpp"
#include "core/identity/tokens.hpp"

namespace dash::identity {

// The changes to an account. Absent members stay as they are.
struct UserChange {
  std::optional<Secret> password;
  std::optional<Secret> current_password;  // needed to change one's own password
  std::optional<bool> is_admin;
  std::optional<bool> is_active;
  std::vector<std::string> grant;
  std::vector<std::string> ungrant;
  bool revoke_tokens = false;
};

struct SignInRequest {
  std::string username;
  Secret password;
  std::string address, request_id;
};

class Accounts {
 public:
  struct Deps {
    db::Sql& sql;
    audit::Log& audit;
    identity::Directory& directory;
    identity::Passwords& passwords;
    identity::Sessions& sessions;
    identity::Tokens& tokens;
    identity::SetupCode& setup_code;
  };
  explicit Accounts(const Deps& deps) : deps_(deps) {}

  // Fails as Passwords does. Writes user.login or user.login_failed to the audit log. A throttled attempt
  // writes nothing, so that guessing cannot fill the log.
  Result<identity::LoginResult> sign_in(const SignInRequest& attempt);

  // Adds a user. For admins only, like every function below that concerns another user.
  Result<identity::User> add(const Principal& principal, const identity::NewUser& user);
  // Changes a user. One's own password needs the current one: Code::validation without it, Code::forbidden
  // when it is wrong, which counts as a failed login. No admin can disable their own account or drop its
  // admin flag (Code::invalid). A new password ends the sessions. It also revokes the tokens when another
  // user sets it or the account is disabled.
  Result<identity::User> change(const Principal& principal, const std::string& username,
                                const UserChange& change);
  Result<std::vector<identity::User>> list(const Principal& principal);

  Result<identity::IssuedToken> issue_token(const Principal& principal, const identity::NewToken& token);
  Result<std::vector<identity::TokenInfo>> list_tokens(const Principal& principal,
                                                       const std::string& username);
  Result<void> revoke_token(const Principal& principal, const std::string& id);

 private:
  Result<void> authorize_change(const Principal& principal, bool is_own, const UserChange& change);
  Result<std::optional<Error>> check_current(db::Transaction& tx, const Principal& principal,
                                             const identity::PasswordAttempt& attempt);
  Result<identity::User> apply(db::Transaction& tx, const Principal& principal, const identity::User& user,
                               const UserChange& change, const std::string& password_hash);
  Result<std::int64_t> revoke_all_tokens(db::Transaction& tx, const Principal& principal,
                                         const std::string& username);
  Result<identity::User> get_user(db::Transaction& tx, const std::string& username);
  Deps deps_;
};

OrderedJson to_json(const identity::User& user);
OrderedJson to_json(const identity::TokenInfo& token);

}  // namespace dash::identity
