#include "core/storage/store/part_runs.hpp"

#include <algorithm>

namespace dash::storage {

std::optional<PartRuns::Run> PartRuns::begin() {
  std::lock_guard lock(mutex_);
  if (left_.empty()) {
    left_.push_back({2, count_});
    return Run{1, count_};
  }
  auto length = [](const Run& run) { return run.last + 1 - run.first; };
  auto longest = std::ranges::max_element(left_, {}, length);
  if (length(*longest) < 2) return std::nullopt;  // its stream is at the last one soon
  Run back{longest->first + length(*longest) / 2, longest->last};
  longest->last = back.first - 1;
  left_.push_back({back.first + 1, back.last});
  return back;
}

bool PartRuns::take(std::uint32_t n) {
  std::lock_guard lock(mutex_);
  auto own = std::ranges::find_if(left_, [n](const Run& run) { return run.first == n && n <= run.last; });
  if (own == left_.end()) return false;
  ++own->first;
  return true;
}

}  // namespace dash::storage
