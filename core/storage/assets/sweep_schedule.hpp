// Sweeps the configured stores every `storage_gc_hours` (setting; 24 by default, 0: never), on one replica at
// a time: who changes the row of storage_sweep has the turn. Run by `serve` on one thread. A clock that jumps
// makes uploads in use look old, so after a jump nothing is swept until the clock has been steady for as long
// as a sweep spares uploads. A store whose own clock is apart refuses by itself.
#pragma once
#include <optional>

#include "core/config/settings.hpp"
#include "core/storage/assets/sweep.hpp"

namespace dash::storage {

inline constexpr std::int64_t kDefaultSweepHours = 24;
inline constexpr std::int64_t kMaxSweepHours = 24 * 365;
// Checks a value of the setting `key`, storage_gc_hours. Code::invalid unless it is empty or a number of hours.
Result<void> check_sweep_hours(std::string_view key, std::string_view text);

class SweepSchedule {
 public:
  // After the start, so that a server that is started again and again, or stops soon, waits for no store.
  static constexpr std::chrono::minutes kFirstLook{10};
  SweepSchedule(SweepDeps deps, config::Settings& settings)
      : deps_(deps), settings_(settings), next_look_(deps.clock.steady_now() + kFirstLook) {}
  // Sweeps when it is due. Called about once a second; failures are logged.
  void tick();

 private:
  static constexpr std::chrono::seconds kLook{10};
  static constexpr std::chrono::hours kLookAfterFailure{1};
  bool is_clock_steady(SteadyTime steady);
  Result<void> sweep_if_due(SteadyTime steady);
  Result<bool> take_turn(std::chrono::hours every);
  SweepDeps deps_;
  config::Settings& settings_;
  SteadyTime next_look_;
  SteadyTime held_until_{};
  std::optional<Time::duration> offset_;  // of the wall clock to the steady one
  std::optional<SteadyTime> last_;        // sweep of this process
};

}  // namespace dash::storage
