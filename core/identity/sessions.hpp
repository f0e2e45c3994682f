// The JWT (HS256, 8 h) that a sign-in returns, and the session behind it. A session ends by logout, by
// disabling the account and by a new password. Every request reads the user's row again. Thread-safe.
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

  // Call it in the transaction of Passwords::conclude(), after the password was right.
  Result<LoginResult> open(db::Transaction& tx, const LoginSubject& subject);
  // Returns the user of a session's JWT. Fails with Code::unauthenticated "Invalid or expired token".
  Result<Principal> authenticate(std::string_view jwt);
  Result<void> logout(std::string_view jwt);

 private:
  struct Session {
    User user;
    Time expires_at;
  };
  Result<Json> claims_of(std::string_view jwt);
  // Returns nullopt when the session ended or its user was disabled.
  Result<std::optional<Session>> find_session(const std::string& id, const std::string& username);
  db::Sql& sql_;
  const Clock& clock_;
  Directory& directory_;
  LoginThrottle throttle_;
  Secret key_;
  db::VersionedCache<std::optional<Session>> cache_;
};

// `credential_id` is the id of the session or of the token.
Principal principal_of(const User& user, Via via, std::string credential_id);

}  // namespace dash::identity
