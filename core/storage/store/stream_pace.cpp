#include "core/storage/store/stream_pace.hpp"

#include <utility>

namespace dash::storage {
namespace {

// A stream that waited so long for bytes can be judged: some round trips of a far link.
constexpr std::chrono::milliseconds kJudgedAfter{200};
// As fast as 2 Gbit/s: more streams of one object rarely bring more.
constexpr double kFastBytesPerSecond = 256.0 * (1u << 20);

}  // namespace

std::size_t stream_count(const StreamPace& pace) {
  if (pace.waited <= pace.busy) return 1;  // the bytes come sooner than they are used
  auto seconds = std::chrono::duration<double>(pace.waited).count();
  return static_cast<double>(pace.bytes) < seconds * kFastBytesPerSecond ? kMaxStreams : 1;
}

void StreamMeter::arrive(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  advance_locked();
  is_busy_ = true;
  pace_.bytes += bytes;
}

void StreamMeter::settle() {
  std::lock_guard lock(mutex_);
  advance_locked();
  is_busy_ = false;
}

std::optional<StreamPace> StreamMeter::read() {
  std::lock_guard lock(mutex_);
  advance_locked();
  if (pace_.waited < kJudgedAfter) return std::nullopt;
  return std::exchange(pace_, {});
}

void StreamMeter::advance_locked() {
  auto now = clock_.steady_now();
  (is_busy_ ? pace_.busy : pace_.waited) += now - since_;
  since_ = now;
}

}  // namespace dash::storage
