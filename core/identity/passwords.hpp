// Whether a password is an account's: what a login and a change of one's own password go through. Wrong ones
// are counted and slowed down. Thread-safe.
#pragma once
#include <optional>
#include <string>

#include "core/base/secret.hpp"
#include "core/identity/login_throttle.hpp"

namespace dash::identity {

// How one try came out; conclude() makes it count.
struct PasswordAttempt {
  LoginSubject subject;
  bool is_right = false;
  std::string hash;  // what it was compared with
};

// The folded name, or a word that is no name for what cannot be one: it is stored and logged.
std::string attempted_username(std::string_view typed);

class Passwords {
 public:
  Passwords(db::Sql& sql, const Clock& clock) : sql_(sql), throttle_(sql, clock) {}

  // Code::throttled. An unknown name costs the same time as a wrong password.
  Result<PasswordAttempt> verify(const std::string& username, const Secret& password,
                                 const std::string& address);
  // Inside of the transaction that acts on the attempt. The refusal, after it was counted:
  // Code::unauthenticated for a wrong name or password (one answer for both), also where the password was
  // changed since verify(); Code::forbidden for a disabled account. Nullopt: the password is right.
  Result<std::optional<Error>> conclude(db::Transaction& tx, const PasswordAttempt& attempt);

 private:
  db::Sql& sql_;
  LoginThrottle throttle_;
};

}  // namespace dash::identity
