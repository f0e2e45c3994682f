// Checks the password of an account, for a login and for a change of one's own password. Wrong passwords are
// counted and slowed down. Thread-safe.
#pragma once
#include <optional>
#include <string>

#include "core/base/secret.hpp"
#include "core/identity/login_throttle.hpp"

namespace dash::identity {

// The outcome of one attempt. conclude() makes it count.
struct PasswordAttempt {
  LoginSubject subject;
  bool is_right = false;
  std::string hash;  // the stored hash that it was compared with
};

// Returns the folded name, or a word that is no name when `typed` cannot be one. It is stored and logged.
std::string attempted_username(std::string_view typed);

class Passwords {
 public:
  Passwords(db::Sql& sql, const Clock& clock) : sql_(sql), throttle_(sql, clock) {}

  // Fails with Code::throttled. An unknown name costs the same time as a wrong password.
  Result<PasswordAttempt> verify(const std::string& username, const Secret& password,
                                 const std::string& address);
  // Call it inside of the transaction that acts on the attempt. Returns nullopt when the password is right,
  // else the refusal, already counted. Code::unauthenticated: a wrong name or password (one answer for both),
  // or a password that changed since verify(). Code::forbidden: a disabled account.
  Result<std::optional<Error>> conclude(db::Transaction& tx, const PasswordAttempt& attempt);

 private:
  db::Sql& sql_;
  LoginThrottle throttle_;
};

}  // namespace dash::identity
