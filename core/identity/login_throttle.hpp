// How many failed logins an account and an address may have, shared by every process on the database. An
// attacker on many addresses slows an account down for strangers, and never for the addresses at which its
// owner signs in. Thread-safe.
#pragma once
#include <chrono>
#include <string>

#include "core/base/clock.hpp"
#include "core/db/sql.hpp"
#include "core/identity/throttle.hpp"

namespace dash::identity {

// The peer's window, and its numbers for an address.
inline constexpr std::chrono::minutes kFailureWindow{15};
inline constexpr std::int64_t kMaxFailuresPerAccountAndAddress = 10;
inline constexpr std::int64_t kMaxFailuresPerAddress = 50;
// From here on strangers share one attempt a second.
inline constexpr std::int64_t kMaxFailuresPerAccount = 100;
inline constexpr std::chrono::hours kKnownAddressLifetime{30 * 24};

// The address as failures are counted by: of an IPv6 address its /64, which is one customer's.
std::string throttle_network(std::string_view address);

// One attempt, by the folded name and the counted address.
struct LoginSubject {
  std::string username;
  std::string address;
};

class LoginThrottle {
 public:
  LoginThrottle(db::Sql& sql, const Clock& clock) : sql_(sql), clock_(clock), shared_attempts_(sql, clock) {}

  // Before the password is looked at; takes the second's one attempt where strangers share one.
  // Code::throttled with retry_after. Never waits.
  Result<void> begin_attempt(const LoginSubject& subject);
  // Again inside of the transaction that records the outcome, since parallel attempts passed begin_attempt()
  // together.
  Result<void> check(db::Transaction& tx, const LoginSubject& subject);
  Result<void> count(db::Transaction& tx, const LoginSubject& subject);
  // After a good login: the failures of the account at this address no longer count.
  Result<void> clear_failures(db::Transaction& tx, const LoginSubject& subject);
  // The account signed in at this address.
  Result<void> record_address(db::Transaction& tx, const LoginSubject& subject);

 private:
  Result<bool> is_shared_attempt(db::Transaction& tx, const LoginSubject& subject);
  db::Sql& sql_;
  const Clock& clock_;
  Throttle shared_attempts_;
};

// Lifts every lock of the account: its password was set anew.
Result<void> lift_lock(db::Transaction& tx, const std::string& username);

}  // namespace dash::identity
