// Cuts what a program writes into lines and keeps its last error.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/stream.hpp"

namespace dash::automation {

// The rest of a longer line is dropped, here and by the callback plugin.
inline constexpr std::size_t kMaxOutputLine = 4096;
// Likewise of an error that the plugin reports.
inline constexpr std::size_t kMaxOutputError = 1000;

class OutputLines final : public Sink {
 public:
  explicit OutputLines(std::function<void(std::string)> on_line) : on_line_(std::move(on_line)) {}
  Result<void> write(std::string_view bytes) override {
    for (char c : bytes) {
      if (c == '\n') {
        finish();
      } else if (partial_.size() < kMaxOutputLine) {
        partial_ += c;
      }
    }
    return {};
  }
  // Passes on what has no end of line: the program has ended.
  void finish() {
    if (partial_.empty()) return;
    if (partial_.starts_with("[ERROR]") || partial_.starts_with("ERROR")) error_ = partial_;
    on_line_(std::exchange(partial_, {}));
  }
  const std::string& error() const { return error_; }

 private:
  const std::function<void(std::string)> on_line_;
  std::string partial_, error_;
};

}  // namespace dash::automation
