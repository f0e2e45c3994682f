#include "core/base/log.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/base/redact.hpp"

namespace dash::log {
namespace {

std::atomic<Level> level_threshold{Level::info};
std::atomic<void (*)(std::string_view)> line_sink{nullptr};

void to_stderr(std::string_view line) {
  while (!line.empty()) {
    auto n = ::write(STDERR_FILENO, line.data(), line.size());
    if (n <= 0) return;
    line.remove_prefix(static_cast<std::size_t>(n));
  }
}

// One line a request, so plain text is written directly, without a document. The library writes any other
// text.
void append(std::string& line, std::string_view text) {
  bool is_plain =
      std::ranges::all_of(text, [](char c) { return c >= 0x20 && c != 0x7f && c != '"' && c != '\\'; });
  if (!is_plain) {
    line += dump_json(Json(text));
    return;
  }
  line += '"';
  line += text;
  line += '"';
}
// A message may repeat an address with a password in it.
void append(std::string& line, const std::string& text) {
  append(line, std::string_view(without_userinfo(text)));
}
template <class T>
void append(std::string& line, const T& value) {
  line += dump_json(Json(value));
}

}  // namespace

void set_level(Level min_level) { level_threshold = min_level; }
void set_sink(void (*sink)(std::string_view)) { line_sink = sink; }

void write(Level level, std::string_view event, Fields fields) {
  if (level < level_threshold.load(std::memory_order_relaxed)) return;
  static constexpr std::array<std::string_view, 4> kNames = {"debug", "info", "warning", "error"};
  auto text = fmt::format(R"({{"ts":"{}","level":"{}","event":)", format_iso_micros(SystemClock().now()),
                          kNames[static_cast<std::size_t>(level)]);
  append(text, event);
  for (const auto& f : fields) {
    text += ',';
    append(text, f.key);
    text += ':';
    std::visit([&](const auto& v) { append(text, v); }, f.value);
  }
  text += "}\n";
  auto sink = line_sink.load();
  sink ? sink(text) : to_stderr(text);
}

}  // namespace dash::log
