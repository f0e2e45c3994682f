// The level of the log, which the setting log_level changes while the server runs, on every replica.
#pragma once
#include <optional>
#include <string_view>

#include "core/base/log.hpp"
#include "core/config/settings.hpp"

namespace dash::app {

// Returns the level of "debug", "info", "warning" (or "warn") and "error", in any case; info for a blank text.
std::optional<log::Level> parse_log_level(std::string_view text);

// Applies the setting. A text that names no level leaves the level as it is and is logged once. One thread.
class LogLevel {
 public:
  explicit LogLevel(config::Settings& settings) : settings_(settings) {}
  void tick();

 private:
  config::Settings& settings_;
  std::string applied_;
};

}  // namespace dash::app
