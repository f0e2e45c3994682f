// The line on a terminal that tells how far a long call is: drawn over itself on stderr, wiped before
// anything else is said. It appears after a second and shows either what a call counts or, where nothing can
// be counted, what is waited for and for how long. Thread-safe.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/base/progress.hpp"

namespace dash::cmd {

class TerminalProgress final : public Progress {
 public:
  TerminalProgress();
  ~TerminalProgress() override;

  void update(std::string_view what, std::uint64_t done, std::uint64_t total, Unit unit) override;
  // "asking https://…": shown with the seconds that it takes, until another or "".
  void set_activity(std::string what);
  // Wipes the line and calls `write`, with nothing drawn meanwhile.
  template <class Write>
  auto print_over(Write write) {
    std::lock_guard lock(mutex_);
    wipe();
    return write();
  }

 private:
  using Steady = std::chrono::steady_clock;
  void tick();
  void draw(const std::string& text);
  void wipe();

  std::mutex mutex_;
  std::condition_variable ended_;
  std::string what_;  // empty: nothing is waited for
  Steady::time_point since_ = Steady::now();
  Steady::time_point started_ = Steady::now();
  Steady::time_point counted_at_{};
  std::optional<std::uint64_t> first_;  // done before we began, by an earlier run
  bool is_drawn_ = false;
  bool is_ending_ = false;
  std::thread ticker_;
};

}  // namespace dash::cmd
