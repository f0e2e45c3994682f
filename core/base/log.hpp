// Structured log: one JSON object a line on stderr, written with one write(2) so that lines of threads and
// processes do not mix. Values are data, never secrets: no function here takes a Secret.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace dash::log {

enum class Level { debug, info, warning, error };

using Value = std::variant<std::string, std::int64_t, double, bool>;
struct Field {
  Field(std::string_view k, std::string_view v) : key(k), value(std::string(v)) {}
  Field(std::string_view k, const char* v) : key(k), value(std::string(v)) {}
  Field(std::string_view k, const std::string& v) : key(k), value(v) {}
  Field(std::string_view k, bool v) : key(k), value(v) {}
  Field(std::string_view k, double v) : key(k), value(v) {}
  template <class I>
    requires std::is_integral_v<I>
  Field(std::string_view k, I v) : key(k), value(static_cast<std::int64_t>(v)) {}
  std::string_view key;
  Value value;
};
using Fields = std::initializer_list<Field>;

void set_level(Level min_level);
// Redirects the lines (tests); nullptr restores stderr. Called with the finished line, newline included.
void set_sink(void (*sink)(std::string_view line));
void write(Level level, std::string_view event, Fields fields);

inline void debug(std::string_view event, Fields f = {}) { write(Level::debug, event, f); }
inline void info(std::string_view event, Fields f = {}) { write(Level::info, event, f); }
inline void warning(std::string_view event, Fields f = {}) { write(Level::warning, event, f); }
inline void error(std::string_view event, Fields f = {}) { write(Level::error, event, f); }

}  // namespace dash::log
