#include "core/identity/throttle.hpp"

#include <algorithm>

namespace dash::identity {

Result<void> Throttle::check(db::Transaction& tx, const Limit& limit, const std::string& subject) {
  auto now = to_micros(clock_.now());
  auto window = std::chrono::duration_cast<std::chrono::microseconds>(limit.window).count();
  auto rows =
      TRY(tx.query("SELECT COUNT(*), MIN(at) FROM attempts WHERE kind = $1 AND subject = $2 AND at > $3",
                   {limit.kind, subject, now - window}));
  if (rows[0].integer(0) < limit.most) return {};
  auto wait = std::max<std::int64_t>(1, (rows[0].integer(1) + window - now + 999'999) / 1'000'000);
  return Failure(Error{Code::throttled,
                       fmt::format("Too many attempts. Try again in {} seconds.", wait),
                       {},
                       std::chrono::seconds(wait),
                       {}});
}

Result<void> Throttle::count(db::Transaction& tx, const Limit& limit, const std::string& subject) {
  auto now = to_micros(clock_.now());
  auto window = std::chrono::duration_cast<std::chrono::microseconds>(limit.window).count();
  TRY(tx.exec("DELETE FROM attempts WHERE kind = $1 AND at <= $2", {limit.kind, now - window}));
  TRY(tx.exec("INSERT INTO attempts (kind, subject, at) VALUES ($1, $2, $3)", {limit.kind, subject, now}));
  return {};
}

Result<void> Throttle::check(const Limit& limit, const std::string& subject) {
  return sql_.read([&](db::Transaction& tx) { return check(tx, limit, subject); });
}

Result<void> Throttle::count(const Limit& limit, const std::string& subject) {
  return sql_.write([&](db::Transaction& tx) { return count(tx, limit, subject); });
}

Result<void> Throttle::spend(const Limit& limit, const std::string& subject) {
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    TRY(check(tx, limit, subject));
    return count(tx, limit, subject);
  });
}

Result<void> Throttle::forget(const Limit& limit, const std::string& subject) {
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("DELETE FROM attempts WHERE kind = $1 AND subject = $2", {limit.kind, subject}));
    return {};
  });
}

}  // namespace dash::identity
