#include "core/storage/assets/migration_meter.hpp"

#include <algorithm>
#include <thread>

namespace dash::storage {
namespace {

// How long a copy that waits for its bandwidth may take to see that it is to stop.
constexpr std::chrono::milliseconds kStopCheckInterval{50};

}  // namespace

void MigrationMeter::begin(std::uint64_t items, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  progress_.items_total = items;
  progress_.bytes_total = bytes;
  report_locked();
}

Result<void> MigrationMeter::admit(std::uint64_t bytes) {
  if (should_stop()) return fail(Code::interrupted, "the migration was stopped");
  auto until = limit_.reserve(bytes, clock_.steady_now());
  for (;;) {
    SteadyTime::duration left = until - clock_.steady_now();
    if (left <= SteadyTime::duration::zero()) return {};
    std::this_thread::sleep_for(std::min<SteadyTime::duration>(left, kStopCheckInterval));
    if (should_stop()) return fail(Code::interrupted, "the migration was stopped");
  }
}

Result<void> MigrationMeter::Item::before_piece(std::uint64_t bytes) {
  auto admitted = meter_.admit(bytes);
  if (!admitted) is_stopped_ = true;
  return admitted;
}

void MigrationMeter::Item::after_piece(std::uint64_t bytes) {
  std::lock_guard lock(meter_.mutex_);
  left_ -= std::min(left_, bytes);
  meter_.moved_ += bytes;
  meter_.progress_.bytes_done += bytes;
  meter_.report_locked();
}

void MigrationMeter::end_item(std::uint64_t bytes_left) {
  std::lock_guard lock(mutex_);
  ++progress_.items_done;
  progress_.bytes_done += bytes_left;
  report_locked();
}

void MigrationMeter::report_locked() {
  auto elapsed = std::chrono::duration<double>(clock_.steady_now() - began_).count();
  progress_.bytes_per_second =
      elapsed > 0 ? static_cast<std::uint64_t>(static_cast<double>(moved_) / elapsed) : 0;
  auto left = progress_.bytes_total - std::min(progress_.bytes_done, progress_.bytes_total);
  progress_.eta_seconds.reset();
  if (left == 0) {
    progress_.eta_seconds = 0;
  } else if (progress_.bytes_per_second > 0) {
    progress_.eta_seconds = left / progress_.bytes_per_second;
  }
  control_.report(progress_);
}

}  // namespace dash::storage
