// Counts attempts in a sliding window, shared by every process on the database: failed logins per account and
// per address, blind comparisons per user. Thread-safe.
#pragma once
#include <chrono>
#include <string>

#include "core/base/clock.hpp"
#include "core/db/sql.hpp"

namespace dash::identity {

struct Limit {
  std::string kind;  // "login.account"
  std::int64_t most;
  std::chrono::seconds window;
};

// The peer's numbers (10 failures an account, 50 an address, 15 minutes).
inline const Limit kLoginPerAccount{"login.account", 10, std::chrono::minutes(15)};
inline const Limit kLoginPerAddress{"login.address", 50, std::chrono::minutes(15)};

class Throttle {
 public:
  Throttle(db::Sql& sql, const Clock& clock) : sql_(sql), clock_(clock) {}
  // Code::throttled with retry_after when `subject` has used up `limit`.
  Result<void> check(const Limit& limit, const std::string& subject);
  Result<void> count(const Limit& limit, const std::string& subject);
  // Checks and counts in one step, so that parallel attempts cannot slip through between.
  Result<void> spend(const Limit& limit, const std::string& subject);
  Result<void> forget(const Limit& limit, const std::string& subject);

 private:
  Result<void> check(db::Transaction& tx, const Limit& limit, const std::string& subject);
  Result<void> count(db::Transaction& tx, const Limit& limit, const std::string& subject);
  db::Sql& sql_;
  const Clock& clock_;
};

}  // namespace dash::identity
