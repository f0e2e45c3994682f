// The JWT (HS256, 8 h) that a sign-in gives, and the session behind it. A session ends by logout, by
// disabling the account and by a new password; the user's row is read again on every request. Thread-safe.
#pragma once
#include <string>

#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/base/secret.hpp"
#include "core/db/versioned_cache.hpp"
#include "core/identity/directory.hpp"
#include "core/identity/passwords.hpp"

namespace dash::identity {

inline constexpr std::chrono::minutes kSessionLifetime{480};

struct LoginResult {
  std::string access_token;
  std::string username;
  std::vector<std::string> workgroups;
};

class Sessions {
 public:
  // `key` signs the tokens; it is derived from the signing key.
  Sessions(db::Sql& sql, const Clock& clock, Directory& directory, Secret key);

  // In the transaction of Passwords::conclude(), which found the password right.
  Result<LoginResult> open(db::Transaction& tx, const LoginSubject& subject);
  // The user behind a session's JWT. Code::unauthenticated "Invalid or expired token".
  Result<Principal> authenticate(std::string_view jwt);
  Result<void> logout(std::string_view jwt);

 private:
  struct Session {
    User user;
    Time expires_at;
  };
  Result<Json> claims_of(std::string_view jwt);
  // Nullopt when it was ended or its user disabled.
  Result<std::optional<Session>> find_session(const std::string& id, const std::string& username);
  db::Sql& sql_;
  const Clock& clock_;
  Directory& directory_;
  LoginThrottle throttle_;
  Secret key_;
  db::VersionedCache<std::optional<Session>> cache_;
};

// `credential_id`: of the session or the token.
Principal principal_of(const User& user, Via via, std::string credential_id);

}  // namespace dash::identity
