#include "core/identity/login_throttle.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "core/base/clock_skew.hpp"

namespace dash::identity {
namespace {

const Limit kSharedSecond{"login.second", 1, std::chrono::seconds(1)};
// Of one account; beyond them the oldest are forgotten.
constexpr std::int64_t kMostKnownAddresses = 1'000;

struct Counted {
  std::int64_t failures = 0;
  Time oldest;
};

// Of the subject that `where` names by $3 and $4. Neither older than the window nor dated by a wrong clock.
Result<Counted> count_failures(db::Transaction& tx, Time now, std::string_view where,
                               const std::vector<std::string>& subject) {
  db::Params params{to_micros(now - kFailureWindow), to_micros(now + kClockSkew)};
  params.insert(params.end(), subject.begin(), subject.end());
  auto rows = TRY(tx.query(
      fmt::format("SELECT COUNT(*), MIN(at) FROM login_failures WHERE at > $1 AND at <= $2 AND {}", where),
      std::move(params)));
  return Counted{rows[0].integer(0), from_micros(rows[0].integer_or(1, 0))};
}

Result<void> check_most(const Counted& counted, std::int64_t most, Time now) {
  if (counted.failures < most) return {};
  return too_many_attempts(
      std::chrono::duration_cast<std::chrono::microseconds>(counted.oldest + kFailureWindow - now));
}

}  // namespace

std::string counted_address(std::string_view address) {
  constexpr std::size_t kNetworkBytes = 8;
  std::string text(address);
  in6_addr v6{};
  if (inet_pton(AF_INET6, text.c_str(), &v6) != 1) return text;
  std::fill(std::begin(v6.s6_addr) + kNetworkBytes, std::end(v6.s6_addr), std::uint8_t{0});
  std::array<char, INET6_ADDRSTRLEN> out{};
  return fmt::format("{}/64", inet_ntop(AF_INET6, &v6, out.data(), out.size()));
}

Result<void> LoginThrottle::admit(const LoginSubject& subject) {
  bool is_shared = false;
  TRY(sql_.read([&](db::Transaction& tx) -> Result<void> {
    TRY(check(tx, subject));
    is_shared = TRY(shares_attempts(tx, subject));
    if (is_shared) TRY(seconds_.check(tx, kSharedSecond, subject.username));
    return {};
  }));
  if (is_shared) TRY(seconds_.spend(kSharedSecond, subject.username));
  return {};
}

Result<void> LoginThrottle::check(db::Transaction& tx, const LoginSubject& subject) {
  auto now = clock_.now();
  auto both =
      TRY(count_failures(tx, now, "username = $3 AND address = $4", {subject.username, subject.address}));
  TRY(check_most(both, kFailuresPerAccountAndAddress, now));
  auto at_address = TRY(count_failures(tx, now, "address = $3", {subject.address}));
  return check_most(at_address, kFailuresPerAddress, now);
}

Result<bool> LoginThrottle::shares_attempts(db::Transaction& tx, const LoginSubject& subject) {
  auto now = clock_.now();
  auto of_account = TRY(count_failures(tx, now, "username = $3", {subject.username}));
  if (of_account.failures < kFailuresPerAccount) return false;
  auto known = TRY(tx.query(
      "SELECT 1 FROM login_addresses WHERE username = $1 AND address = $2 AND seen_at > $3 AND seen_at <= $4",
      {subject.username, subject.address, to_micros(now - kAddressIsKnown), to_micros(now + kClockSkew)}));
  return known.empty();
}

Result<void> LoginThrottle::count(db::Transaction& tx, const LoginSubject& subject) {
  auto now = clock_.now();
  TRY(tx.exec("DELETE FROM login_failures WHERE at <= $1 OR at > $2",
              {to_micros(now - kFailureWindow), to_micros(now + kClockSkew)}));
  TRY(tx.exec("INSERT INTO login_failures (username, address, at) VALUES ($1, $2, $3)",
              {subject.username, subject.address, to_micros(now)}));
  return {};
}

Result<void> LoginThrottle::forget(db::Transaction& tx, const LoginSubject& subject) {
  TRY(tx.exec("DELETE FROM login_failures WHERE username = $1 AND address = $2",
              {subject.username, subject.address}));
  return {};
}

Result<void> LoginThrottle::remember(db::Transaction& tx, const LoginSubject& subject) {
  TRY(
      tx.exec("INSERT INTO login_addresses (username, address, seen_at) VALUES ($1, $2, $3)"
              " ON CONFLICT (username, address) DO UPDATE SET seen_at = $3",
              {subject.username, subject.address, to_micros(clock_.now())}));
  TRY(
      tx.exec("DELETE FROM login_addresses WHERE username = $1 AND address IN (SELECT address FROM "
              "login_addresses WHERE username = $1 ORDER BY seen_at DESC, address LIMIT 1000000 OFFSET $2)",
              {subject.username, kMostKnownAddresses}));
  return {};
}

Result<void> lift_lock(db::Transaction& tx, const std::string& username) {
  TRY(tx.exec("DELETE FROM login_failures WHERE username = $1", {username}));
  return {};
}

}  // namespace dash::identity
