#include "core/storage/assets/sweep_schedule.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/clock_skew.hpp"
#include "core/base/log.hpp"
#include "core/base/text.hpp"

namespace dash::storage {

Result<void> check_sweep_hours(std::string_view key, std::string_view text) {
  auto digits = trim(text);
  std::int64_t hours = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), hours);
  bool is_number = error == std::errc() && end == digits.data() + digits.size();
  if (digits.empty() || (is_number && hours >= 0 && hours <= kMaxSweepHours)) return {};
  return fail(Code::invalid, "{} is a number of hours from 0 (never) to {}", key, kMaxSweepHours);
}

void SweepSchedule::tick() {
  auto steady = deps_.clock.steady_now();
  if (steady < next_look_) return;
  next_look_ = steady + kLook;
  if (!is_clock_steady(steady)) return;
  auto swept = sweep_if_due(steady);
  if (swept) return;
  next_look_ = steady + kLookAfterFailure;
  log::warning("storage.gc_failed", {{"error", swept.error().message}});
}

bool SweepSchedule::is_clock_steady(SteadyTime steady) {
  auto offset = deps_.clock.now().time_since_epoch() -
                std::chrono::duration_cast<Time::duration>(steady.time_since_epoch());
  if (offset_ && std::chrono::abs(offset - *offset_) > kMaxClockSkew) {
    held_until_ = steady + kDefaultSweepAge;
    log::warning("storage.gc_held", {{"reason", "the clock jumped, so the ages of uploads are unknown"},
                                     {"hours", kDefaultSweepAge.count()}});
  }
  offset_ = offset;
  return steady >= held_until_;
}

Result<void> SweepSchedule::sweep_if_due(SteadyTime steady) {
  auto text = TRY(settings_.text("storage_gc_hours"));
  TRY(check_sweep_hours("storage_gc_hours", text));
  std::chrono::hours every(TRY(settings_.integer("storage_gc_hours", kDefaultSweepHours)));
  if (every.count() == 0 || (last_ && steady < *last_ + every)) return {};
  auto settings = TRY(deps_.stores.settings());
  if (std::ranges::none_of(
          backends(), [&](const Backend& backend) { return is_configured(backend, settings->values()); }))
    return {};
  if (!TRY(take_turn(every))) return {};
  last_ = steady;
  auto swept = TRY(sweep_stores(deps_, local_operator(), {"", kDefaultSweepAge, /*is_applied=*/true}));
  for (const auto& [backend, error] : swept.failed)
    log::warning("storage.gc_failed", {{"backend", backend}, {"error", error}});
  log::info("storage.gc", {{"swept", swept.swept}});
  return {};
}

// A turn from the future was taken by a clock that was wrong, and counts as none.
Result<bool> SweepSchedule::take_turn(std::chrono::hours every) {
  auto now = deps_.clock.now();
  db::Params params{to_micros(now - every), to_micros(now + kMaxClockSkew)};
  auto is_due = TRY(db::read<bool>(deps_.sql, [&](db::Transaction& tx) -> Result<bool> {
    return !TRY(tx.query("SELECT 1 FROM storage_sweep WHERE began_at <= $1 OR began_at > $2", params))
                .empty();
  }));
  if (!is_due) return false;
  params.emplace_back(to_micros(now));
  return db::write<bool>(deps_.sql, [&](db::Transaction& tx) -> Result<bool> {
    return TRY(tx.exec("UPDATE storage_sweep SET began_at = $3 WHERE began_at <= $1 OR began_at > $2",
                       params)) == 1;
  });
}

}  // namespace dash::storage
