#include "daemon/http/range.hpp"

#include <algorithm>
#include <charconv>

namespace dash::daemon {
namespace {

// Parses digits alone, in range; nothing else is a number.
std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Failure beyond(std::uint64_t size) {
  return fail(Code::bad_range, "the range lies beyond the {} bytes of the object", size);
}

}  // namespace

Result<std::optional<ByteRange>> parse_range(std::string_view header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return std::nullopt;
  auto spec = header.substr(kUnit.size());
  auto dash = spec.find('-');
  if (dash == spec.npos || spec.find(',') != spec.npos) return std::nullopt;
  auto from = spec.substr(0, dash);
  auto to = number(spec.substr(dash + 1));
  if (from.empty()) {  // the last `to` bytes
    if (!to) return std::nullopt;
    if (*to == 0 || size == 0) return beyond(size);
    auto length = std::min(*to, size);
    return ByteRange{size - length, length};
  }
  auto first = number(from);
  bool open_ended = dash + 1 == spec.size();
  if (!first || (!to && !open_ended) || (to && *to < *first)) return std::nullopt;
  if (*first >= size) return beyond(size);
  auto last = std::min(to.value_or(size - 1), size - 1);
  return ByteRange{*first, last - *first + 1};
}

}  // namespace dash::daemon
