#include "cmd/cli/terminal_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cmd/cli/printer.hpp"

namespace dash::cmd {
namespace {

constexpr auto kDisplayDelay = std::chrono::seconds(1);
constexpr auto kRedrawInterval = std::chrono::milliseconds(100);
constexpr auto kTickInterval = std::chrono::milliseconds(500);

}  // namespace

TerminalProgress::TerminalProgress() : ticker_([this] { tick(); }) {}

TerminalProgress::~TerminalProgress() {
  {
    std::lock_guard lock(mutex_);
    is_ending_ = true;
    wipe();
  }
  ended_.notify_all();
  ticker_.join();
}

void TerminalProgress::update(std::string_view what, std::uint64_t done, std::uint64_t total, Unit unit) {
  std::lock_guard lock(mutex_);
  auto now = Steady::now();
  if (!first_) first_ = done;
  if (now - started_ < kDisplayDelay || now - counted_at_ < kRedrawInterval) return;
  counted_at_ = now;
  std::chrono::duration<double> elapsed = now - started_;
  auto rate = static_cast<double>(done - std::min(*first_, done)) / elapsed.count();
  draw(progress_text(what, done, total, rate, unit));
}

void TerminalProgress::set_activity(std::string what) {
  std::lock_guard lock(mutex_);
  wipe();
  what_ = std::move(what);
  since_ = Steady::now();
}

void TerminalProgress::tick() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kTickInterval, [this] { return is_ending_; })) {
    auto now = Steady::now();
    if (what_.empty() || now - since_ < kDisplayDelay || now - counted_at_ < 2 * kTickInterval) continue;
    draw(fmt::format("{} … {} s", what_,
                     std::chrono::duration_cast<std::chrono::seconds>(now - since_).count()));
  }
}

void TerminalProgress::draw(const std::string& text) {
  is_drawn_ = true;
  auto line = "\r\033[K" + one_line(text);
  [[maybe_unused]] auto n = ::write(STDERR_FILENO, line.data(), line.size());
}

void TerminalProgress::wipe() {
  constexpr std::string_view kWipe = "\r\033[K";
  if (std::exchange(is_drawn_, false)) {
    [[maybe_unused]] auto n = ::write(STDERR_FILENO, kWipe.data(), kWipe.size());
  }
}

}  // namespace dash::cmd
