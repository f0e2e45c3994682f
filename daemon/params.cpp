#include "daemon/params.hpp"

#include <charconv>

#include "daemon/body.hpp"

namespace dash::daemon {

Result<std::optional<std::int64_t>> integer_query(const Request& request, std::string_view name) {
  auto text = request.query.get_or(name, "");
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return Failure(
      validation_error({{"int_parsing", {std::string(name)}, "Input should be a valid integer"}}, "query"));
}

}  // namespace dash::daemon
