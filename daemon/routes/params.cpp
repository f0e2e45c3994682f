#include "daemon/routes/params.hpp"

#include <charconv>

#include "core/config/settings.hpp"
#include "daemon/routes/body.hpp"

namespace dash::daemon {
namespace {

Failure invalid_query(std::string_view name, std::string type, std::string message, std::string_view text) {
  return Failure(validation_error(
      {{std::move(type), {std::string(name)}, std::move(message), std::string(text)}}, "query"));
}

}  // namespace

Result<std::optional<std::int64_t>> integer_query(const Request& request, std::string_view name) {
  auto text = request.query.get_or(name, "");
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return invalid_query(name, "int_parsing", "Input should be a valid integer", text);
}

Result<bool> flag_query(const Request& request, std::string_view name) {
  auto text = request.query.get_or(name, "");
  auto flag = config::parse_flag(name, text, false);
  if (flag) return *flag;
  return invalid_query(name, "bool_parsing", "Input should be a valid boolean", text);
}

Result<std::int64_t> ranged_query(const Request& request, std::string_view name, std::int64_t fallback,
                                  std::int64_t min, std::int64_t max) {
  auto value = TRY(integer_query(request, name)).value_or(fallback);
  if (value < min)
    return invalid_query(name, "greater_than_equal",
                         fmt::format("Input should be greater than or equal to {}", min),
                         std::to_string(value));
  if (value > max)
    return invalid_query(name, "less_than_equal",
                         fmt::format("Input should be less than or equal to {}", max), std::to_string(value));
  return value;
}

}  // namespace dash::daemon
