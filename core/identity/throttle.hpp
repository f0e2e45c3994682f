// Counts attempts in a sliding window, for all processes on the database together: blind comparisons per
// user, claims per address. Attempts dated ahead of now by more than the clock's skew do not count.
// Thread-safe.
#pragma once
#include <chrono>
#include <string>

#include "core/base/clock.hpp"
#include "core/db/sql.hpp"

namespace dash::identity {

struct AttemptLimit {
  std::string kind;  // "setup.claim"
  std::int64_t max_attempts;
  std::chrono::seconds window;
};

// Code::throttled, with the wait rounded up to whole seconds, at least one.
Failure too_many_attempts(std::chrono::microseconds wait);

class Throttle {
 public:
  Throttle(db::Sql& sql, const Clock& clock) : sql_(sql), clock_(clock) {}
  // Fails with Code::throttled and retry_after when `subject` has used up `limit`.
  Result<void> check(db::Transaction& tx, const AttemptLimit& limit, const std::string& subject);
  // Checks and counts in one step, so that parallel attempts cannot both pass.
  Result<void> check_and_count(const AttemptLimit& limit, const std::string& subject);
  // Counts an attempt, for a caller that counts failures alone and checks in the same transaction.
  Result<void> count(db::Transaction& tx, const AttemptLimit& limit, const std::string& subject);

 private:
  db::Sql& sql_;
  const Clock& clock_;
};

}  // namespace dash::identity
