#include "core/identity/login_throttle.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "core/base/clock_skew.hpp"

namespace dash::identity {
namespace {

const AttemptLimit kSharedAttemptLimit{"login.second", 1, std::chrono::seconds(1)};
// Of one account. Beyond them the oldest are dropped.
constexpr std::int64_t kMaxKnownAddresses = 1'000;

struct FailureCount {
  std::int64_t failures = 0;
  Time oldest;
};

// Counts failures of the subject that `where` names by $3 and $4, without those older than the window or
// dated by a wrong clock.
Result<FailureCount> count_failures(db::Transaction& tx, Time now, std::string_view where,
                                    const std::vector<std::string>& subject) {
  db::Params params{to_micros(now - kFailureWindow), to_micros(now + kMaxClockSkew)};
  params.insert(params.end(), subject.begin(), subject.end());
  auto rows = TRY(tx.query(
      fmt::format("SELECT COUNT(*), MIN(at) FROM login_failures WHERE at > $1 AND at <= $2 AND {}", where),
      std::move(params)));
  return FailureCount{rows[0].integer(0), from_micros(rows[0].integer_or(1, 0))};
}

Result<void> check_limit(const FailureCount& counted, std::int64_t limit, Time now) {
  if (counted.failures < limit) return {};
  return too_many_attempts(
      std::chrono::duration_cast<std::chrono::microseconds>(counted.oldest + kFailureWindow - now));
}

}  // namespace

std::string throttle_network(std::string_view address) {
  constexpr std::size_t kNetworkBytes = 8;
  std::string text(address);
  in6_addr v6{};
  if (inet_pton(AF_INET6, text.c_str(), &v6) != 1) return text;
  std::fill(std::begin(v6.s6_addr) + kNetworkBytes, std::end(v6.s6_addr), std::uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> out{};
  return fmt::format("{}/64", inet_ntop(AF_INET6, &v6, out.data(), out.size()));
}

Result<void> LoginThrottle::begin_attempt(const LoginSubject& subject) {
  bool is_shared = false;
  TRY(sql_.read([&](db::Transaction& tx) -> Result<void> {
    TRY(check(tx, subject));
    is_shared = TRY(is_shared_attempt(tx, subject));
    if (is_shared) TRY(shared_attempts_.check(tx, kSharedAttemptLimit, subject.username));
    return {};
  }));
  if (is_shared) TRY(shared_attempts_.check_and_count(kSharedAttemptLimit, subject.username));
  return {};
}

Result<void> LoginThrottle::check(db::Transaction& tx, const LoginSubject& subject) {
  auto now = clock_.now();
  auto both =
      TRY(count_failures(tx, now, "username = $3 AND address = $4", {subject.username, subject.address}));
  TRY(check_limit(both, kMaxFailuresPerAccountAndAddress, now));
  auto address_failures = TRY(count_failures(tx, now, "address = $3", {subject.address}));
  return check_limit(address_failures, kMaxFailuresPerAddress, now);
}

Result<bool> LoginThrottle::is_shared_attempt(db::Transaction& tx, const LoginSubject& subject) {
  auto now = clock_.now();
  auto account_failures = TRY(count_failures(tx, now, "username = $3", {subject.username}));
  if (account_failures.failures < kMaxFailuresPerAccount) return false;
  auto rows = TRY(tx.query(
      "SELECT 1 FROM login_addresses WHERE username = $1 AND address = $2 AND seen_at > $3 AND seen_at <= $4",
      {subject.username, subject.address, to_micros(now - kKnownAddressLifetime),
       to_micros(now + kMaxClockSkew)}));
  return rows.empty();
}

Result<void> LoginThrottle::count(db::Transaction& tx, const LoginSubject& subject) {
  auto now = clock_.now();
  TRY(tx.exec("DELETE FROM login_failures WHERE at <= $1 OR at > $2",
              {to_micros(now - kFailureWindow), to_micros(now + kMaxClockSkew)}));
  TRY(tx.exec("INSERT INTO login_failures (username, address, at) VALUES ($1, $2, $3)",
              {subject.username, subject.address, to_micros(now)}));
  return {};
}

Result<void> LoginThrottle::clear_failures(db::Transaction& tx, const LoginSubject& subject) {
  TRY(tx.exec("DELETE FROM login_failures WHERE username = $1 AND address = $2",
              {subject.username, subject.address}));
  return {};
}

Result<void> LoginThrottle::record_address(db::Transaction& tx, const LoginSubject& subject) {
  TRY(tx.exec(R"(INSERT INTO login_addresses (username, address, seen_at)
                 VALUES ($1, $2, $3)
                 ON CONFLICT (username, address) DO UPDATE SET seen_at = $3)",
              {subject.username, subject.address, to_micros(clock_.now())}));
  TRY(tx.exec(R"(DELETE FROM login_addresses
                 WHERE username = $1 AND address IN
                   (SELECT address FROM login_addresses WHERE username = $1
                    ORDER BY seen_at DESC, address LIMIT 1000000 OFFSET $2))",
              {subject.username, kMaxKnownAddresses}));
  return {};
}

Result<void> lift_lock(db::Transaction& tx, const std::string& username) {
  TRY(tx.exec("DELETE FROM login_failures WHERE username = $1", {username}));
  return {};
}

}  // namespace dash::identity
