// How many streams read one large object side by side. One costs a server least: the S3 server of the tests spends
// 0.15 s of processor on a GiB of one request, and 1.1 s on the same by ranges of 8 MiB. More help where one is held
// back: by a link's latency, or by a store that throttles connections. Others decide before they know: by the
// object's size (rclone, --multi-thread-cutoff 256M: 4 streams), always (s5cmd, --concurrency 5), by a rate that they
// are given (the AWS CRT, throughput_target_gbps), or never (mc). Here the first stream is measured. Thread-safe.
#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

#include "core/base/clock.hpp"

namespace dash::storage {

inline constexpr std::size_t kMaxStreams = 4;

// What streams did in some time.
struct StreamPace {
  std::chrono::nanoseconds waited{};  // for bytes
  std::chrono::nanoseconds
      busy{};  // with bytes that had come: hashed, written, or held up by those who do that
  std::uint64_t bytes = 0;
};

// Returns how many streams are worth it after one had this pace.
std::size_t stream_count(const StreamPace& pace);

// Measures one stream. Thread-safe.
class StreamMeter {
 public:
  explicit StreamMeter(const Clock& clock) : clock_(clock), since_(clock.steady_now()) {}
  // Bytes have come; the stream waits for more after settle().
  void arrive(std::size_t bytes);
  void settle();
  // Returns the pace since the last call that returned one. Nothing while it is too early to say.
  std::optional<StreamPace> read();

 private:
  void advance_locked();
  const Clock& clock_;
  std::mutex mutex_;
  SteadyTime since_;  // up to here, the pace is known
  bool is_busy_ = false;
  StreamPace pace_;
};

}  // namespace dash::storage
