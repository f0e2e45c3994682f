// The progress line of a long call on a terminal: redrawn on stderr, and wiped before any other output. It
// appears after a second. It shows a count, or, where nothing can be counted, what the call waits for and how
// long. Thread-safe.
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
  // Sets the text, which is shown with the elapsed seconds until the next call; "" removes it.
  void set_activity(std::string what);
  // Wipes the line and calls `write`. Nothing is drawn meanwhile.
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
  std::string what_;  // empty: it waits for nothing
  Steady::time_point since_ = Steady::now();
  Steady::time_point started_ = Steady::now();
  Steady::time_point counted_at_{};
  std::optional<std::uint64_t> first_;  // done by an earlier run
  bool is_drawn_ = false;
  bool is_ending_ = false;
  std::thread ticker_;
};

}  // namespace dash::cmd
