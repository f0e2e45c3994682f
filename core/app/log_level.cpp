#include "core/app/log_level.hpp"

#include "core/base/text.hpp"

namespace dash::app {

std::optional<log::Level> parse_log_level(std::string_view text) {
  auto word = lower(trim(text));
  if (word == "debug") return log::Level::debug;
  if (word.empty() || word == "info") return log::Level::info;
  if (word == "warning" || word == "warn") return log::Level::warning;
  if (word == "error") return log::Level::error;
  return std::nullopt;
}

void LogLevel::tick() {
  auto text = settings_.text("log_level");
  if (!text || *text == applied_) return;
  applied_ = *text;
  auto level = parse_log_level(applied_);
  if (!level)
    return log::warning("log_level.unknown", {{"value", applied_}, {"known", "debug, info, warning, error"}});
  log::set_level(*level);
  log::write(*level, "log_level", {{"now", applied_.empty() ? "info" : applied_}});
}

}  // namespace dash::app
