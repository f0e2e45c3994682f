#include "core/jobs/switch_lease.hpp"

#include <condition_variable>
#include <mutex>

#include "core/base/process_name.hpp"
#include "core/crypto/hash.hpp"
#include "core/jobs/lease.hpp"

namespace dash::jobs {
namespace {

constexpr std::chrono::seconds kRenewInterval{2};
constexpr std::int64_t kSwitchLeaseMicros = std::chrono::microseconds(kSwitchLeaseLength).count();

Failure other_switch(const BackendSwitch& other) {
  return fail(Code::conflict,
              "'{}' has been switching the storage backend since {}. Wait until that is done, then send this "
              "again. If its process died, this can be sent again after {} seconds.",
              other.username, format_iso(other.began_at), kSwitchLeaseLength.count());
}

}  // namespace

// A process of this machine that has ended is not waited for.
Result<std::optional<BackendSwitch>> find_backend_switch(db::Transaction& tx, Time now) {
  auto rows = TRY(tx.query(fmt::format("SELECT process, username, began_at FROM backend_switch "
                                       "WHERE id = 1 AND owner <> '' AND NOT {}",
                                       lease_expired_condition(1, 2)),
                           {to_micros(now), kSwitchLeaseMicros}));
  if (rows.empty() || has_process_ended(rows[0].text(0))) return std::nullopt;
  return BackendSwitch{rows[0].text(1), from_micros(rows[0].integer(2))};
}

SwitchLease::SwitchLease(db::Sql& sql, const Clock& clock)
    : sql_(sql), clock_(clock), owner_(crypto::random_hex(8)) {}

Result<std::unique_ptr<SwitchLease>> SwitchLease::take(db::Sql& sql, const Clock& clock,
                                                       const std::string& username) {
  std::unique_ptr<SwitchLease> lease(new SwitchLease(sql, clock));
  TRY(sql.write([&](db::Transaction& tx) -> Result<void> {
    auto now = clock.now();
    if (auto other = TRY(find_backend_switch(tx, now))) return other_switch(*other);
    TRY(tx.exec(R"(UPDATE backend_switch
                   SET owner = $1, process = $2, username = $3, began_at = $4, lease_until = $5,
                       lease_micros = $6
                   WHERE id = 1)",
                {lease->owner_, own_process_name(), username, to_micros(now),
                 to_micros(now) + kSwitchLeaseMicros, kSwitchLeaseMicros}));
    return {};
  }));
  lease->renewal_ = std::jthread([&one = *lease](std::stop_token stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, stop, kRenewInterval, [] { return false; }) && !stop.stop_requested())
      one.renew();
  });
  return lease;
}

void SwitchLease::renew() {
  std::ignore = sql_.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("UPDATE backend_switch SET lease_until = $2 WHERE id = 1 AND owner = $1",
                {owner_, to_micros(clock_.now()) + kSwitchLeaseMicros}));
    return {};
  });
}

// Another switch may have it by now. Where the database does not answer, the lease ends by itself.
SwitchLease::~SwitchLease() {
  if (!renewal_.joinable()) return;
  renewal_.request_stop();
  renewal_.join();
  std::ignore = sql_.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("UPDATE backend_switch SET owner = '', lease_until = 0 WHERE id = 1 AND owner = $1",
                {owner_}));
    return {};
  });
}

Result<bool> SwitchLease::is_held(db::Transaction& tx) const {
  return !TRY(tx.query(fmt::format("SELECT 1 FROM backend_switch WHERE id = 1 AND owner = $3 AND NOT {}",
                                   lease_expired_condition(1, 2)),
                       {to_micros(clock_.now()), kSwitchLeaseMicros, owner_}))
              .empty();
}

}  // namespace dash::jobs
