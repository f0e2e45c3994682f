#include "core/storage/store/key.hpp"

#include <algorithm>

#include "core/base/utf8.hpp"
#include "core/storage/store/names.hpp"

namespace dash::storage {
namespace {

bool is_plain_segment(std::string_view segment) {
  return !segment.empty() && segment != "." && segment != "..";
}

}  // namespace

Result<void> check_key(std::string_view key) {
  if (key.empty()) return fail(Code::invalid, "the name of an object is empty");
  if (key.size() > kMaxKeyBytes)
    return fail(Code::invalid, "the name of an object has {} bytes; at most {} are allowed", key.size(),
                kMaxKeyBytes);
  if (!is_utf8(key) || has_control_character(key))
    return fail(Code::invalid, "the name of an object has a control character or is not UTF-8");
  for (std::size_t from = 0; from <= key.size();) {
    auto end = std::min(key.find('/', from), key.size());
    if (!is_plain_segment(key.substr(from, end - from)))
      return fail(Code::invalid, "'{}' is not a plain path: it has an empty segment, '.' or '..'", key);
    from = end + 1;
  }
  return {};
}

}  // namespace dash::storage
