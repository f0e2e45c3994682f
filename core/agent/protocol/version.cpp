#include "core/agent/protocol/version.hpp"

#include <charconv>
#include <optional>

#include "core/base/text.hpp"

namespace dash::agent {
namespace {

// Takes the digits at the front of `text` off it.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

bool is_version_at_least(std::string_view version, ProtocolVersion wanted) {
  auto text = trim(version);
  auto major_number = take_number(text);
  if (!major_number || !text.starts_with('.')) return false;
  text.remove_prefix(1);
  auto minor_number = take_number(text);
  if (!minor_number) return false;
  if (*major_number != wanted.major_number) return *major_number > wanted.major_number;
  return *minor_number >= wanted.minor_number;
}

}  // namespace dash::agent
