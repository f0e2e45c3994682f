// Limits failed logins by account and by address, for all processes on the database together. An attacker
// with many addresses slows an account down for unknown addresses, never for those at which its owner signs
// in. Thread-safe.
#pragma once
#include <chrono>
#include <string>

#include "core/base/clock.hpp"
#include "core/db/sql.hpp"
#include "core/identity/throttle.hpp"

namespace dash::identity {

// The window and the limits of the deployed dashboards (docs/compatibility.md).
inline constexpr std::chrono::minutes kFailureWindow{15};
inline constexpr std::int64_t kMaxFailuresPerAccountAndAddress = 10;
inline constexpr std::int64_t kMaxFailuresPerAddress = 50;
// From this count on, unknown addresses share one attempt a second.
inline constexpr std::int64_t kMaxFailuresPerAccount = 100;
inline constexpr std::chrono::hours kKnownAddressLifetime{30 * 24};

// Returns the address under which failures are counted: of an IPv6 address its /64, which is one customer's.
std::string throttle_network(std::string_view address);

// One login attempt: the folded name and the counted address.
struct LoginSubject {
  std::string username;
  std::string address;
};

class LoginThrottle {
 public:
  LoginThrottle(db::Sql& sql, const Clock& clock) : sql_(sql), clock_(clock), shared_attempts_(sql, clock) {}

  // Call it before the password is checked. It takes the one attempt of the second where unknown addresses
  // share it. Code::throttled with retry_after. Never waits.
  Result<void> begin_attempt(const LoginSubject& subject);
  // Checks again inside of the transaction that records the outcome, because parallel attempts may have
  // passed begin_attempt() together.
  Result<void> check(db::Transaction& tx, const LoginSubject& subject);
  Result<void> count(db::Transaction& tx, const LoginSubject& subject);
  // Call it after a good login: the account's failures at this address no longer count.
  Result<void> clear_failures(db::Transaction& tx, const LoginSubject& subject);
  // Records that the account signed in at this address.
  Result<void> record_address(db::Transaction& tx, const LoginSubject& subject);

 private:
  Result<bool> is_shared_attempt(db::Transaction& tx, const LoginSubject& subject);
  db::Sql& sql_;
  const Clock& clock_;
  Throttle shared_attempts_;
};

// Lifts every lock of the account, after a new password.
Result<void> lift_lock(db::Transaction& tx, const std::string& username);

}  // namespace dash::identity
