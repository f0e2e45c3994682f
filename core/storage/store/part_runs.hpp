// Shares the parts of one object among streams. Each reads a run of parts; a stream that comes later gets the back half
// of the longest run. Thread-safe.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace dash::storage {

class PartRuns {
 public:
  // Of parts 1 to `count`, at least one.
  explicit PartRuns(std::uint32_t count) : count_(count) {}

  struct Run {
    std::uint32_t first, last;
  };
  // Begins a run with its first part; the first run has all parts. Later ones take what another stream has not begun
  // yet, and return nothing when that is not worth a stream.
  std::optional<Run> begin();
  // Returns whether the stream that read part `n` - 1 goes on with part `n`. If not, its run is over.
  bool take(std::uint32_t n);

 private:
  const std::uint32_t count_;
  std::mutex mutex_;
  std::vector<Run> left_;  // of each run: the parts that are not begun
};

}  // namespace dash::storage
