// Reports the progress of a long core call. The command line draws it, the daemon ignores it. Thread-safe.
#pragma once
#include <cstdint>
#include <string_view>

namespace dash {

enum class Unit { items, bytes };

class Progress {
 public:
  virtual ~Progress() = default;
  // Reports `done` of `total` units (0 when unknown); `what` names the item.
  virtual void update(std::string_view what, std::uint64_t done, std::uint64_t total,
                      Unit unit = Unit::items) = 0;
};

class NoProgress final : public Progress {
 public:
  void update(std::string_view, std::uint64_t, std::uint64_t, Unit) override {}
};

}  // namespace dash
