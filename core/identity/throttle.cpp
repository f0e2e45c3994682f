#include "core/identity/throttle.hpp"

#include <algorithm>

#include "core/base/clock_skew.hpp"

namespace dash::identity {

Failure too_many_attempts(std::chrono::microseconds wait) {
  auto seconds = std::max(std::chrono::seconds(1), std::chrono::ceil<std::chrono::seconds>(wait));
  return Failure(throttled(seconds, "Too many attempts. Try again in {} seconds.", seconds.count()));
}

Result<void> Throttle::check(db::Transaction& tx, const AttemptLimit& limit, const std::string& subject) {
  auto now = clock_.now();
  auto rows = TRY(tx.query(
      "SELECT COUNT(*), MIN(at) FROM attempts WHERE kind = $1 AND subject = $2 AND at > $3 AND at <= $4",
      {limit.kind, subject, to_micros(now - limit.window), to_micros(now + kMaxClockSkew)}));
  if (rows[0].integer(0) < limit.max_attempts) return {};
  return too_many_attempts(std::chrono::duration_cast<std::chrono::microseconds>(
      from_micros(rows[0].integer(1)) + limit.window - now));
}

Result<void> Throttle::count(db::Transaction& tx, const AttemptLimit& limit, const std::string& subject) {
  auto now = clock_.now();
  TRY(tx.exec("DELETE FROM attempts WHERE kind = $1 AND (at <= $2 OR at > $3)",
              {limit.kind, to_micros(now - limit.window), to_micros(now + kMaxClockSkew)}));
  TRY(tx.exec("INSERT INTO attempts (kind, subject, at) VALUES ($1, $2, $3)",
              {limit.kind, subject, to_micros(now)}));
  return {};
}

Result<void> Throttle::check_and_count(const AttemptLimit& limit, const std::string& subject) {
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    TRY(check(tx, limit, subject));
    return count(tx, limit, subject);
  });
}

}  // namespace dash::identity
