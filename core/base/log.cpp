#include "core/base/log.hpp"

#include <unistd.h>

#include <array>
#include <atomic>

#include "core/base/clock.hpp"
#include "core/base/json.hpp"

namespace dash::log {
namespace {

std::atomic<Level> least_level{Level::info};
std::atomic<void (*)(std::string_view)> line_sink{nullptr};

void to_stderr(std::string_view line) {
  while (!line.empty()) {
    auto n = ::write(STDERR_FILENO, line.data(), line.size());
    if (n <= 0) return;
    line.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

void set_level(Level least) { least_level = least; }
void set_sink(void (*sink)(std::string_view)) { line_sink = sink; }

void write(Level level, std::string_view event, Fields fields) {
  if (level < least_level.load(std::memory_order_relaxed)) return;
  static constexpr std::array<std::string_view, 4> kNames = {"debug", "info", "warning", "error"};
  OrderedJson line;
  line["ts"] = format_iso_micros(SystemClock().now());
  line["level"] = kNames[static_cast<std::size_t>(level)];
  line["event"] = event;
  for (const auto& f : fields) std::visit([&](const auto& v) { line[std::string(f.key)] = v; }, f.value);
  auto text = dump_json(line) + "\n";
  auto sink = line_sink.load();
  sink ? sink(text) : to_stderr(text);
}

}  // namespace dash::log
