// Sign-in with a password, and the JWT (HS256, 8 h) that a session gives. A session ends by logout, by
// disabling the account and by a new password; the user's row is read again on every request. Thread-safe.
#pragma once
#include <string>

#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/base/secret.hpp"
#include "core/db/kept.hpp"
#include "core/identity/directory.hpp"
#include "core/identity/throttle.hpp"

namespace dash::identity {

inline constexpr std::chrono::minutes kSessionLifetime{480};

struct Login {
  std::string access_token;
  std::string username;
  std::vector<std::string> workgroups;
};

class Sessions {
 public:
  // `key` signs the tokens; it is derived from the signing key.
  Sessions(db::Sql& sql, const Clock& clock, Directory& directory, Secret key);

  // Code::unauthenticated for a wrong name or password (one answer for both), Code::forbidden for a disabled
  // account, Code::throttled. An unknown name costs the same time as a wrong password.
  Result<Login> login(const std::string& username, const Secret& password, const std::string& address);
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
  Result<Login> open_session(const User& user);
  db::Sql& sql_;
  const Clock& clock_;
  Directory& directory_;
  Throttle throttle_;
  Secret key_;
  db::Kept<std::optional<Session>> known_;
};

Principal principal_of(const User& user, Via via);

}  // namespace dash::identity
