// The Range header of RFC 9110 §14: one range of bytes, so that an interrupted download can continue.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/stream.hpp"

namespace dash::daemon {

// Returns nullopt to serve the whole (no bytes range, malformed, or several ranges, which a server may
// ignore). Code::bad_range when it is beyond `size`.
Result<std::optional<ByteRange>> parse_range(std::string_view header, std::uint64_t size);

}  // namespace dash::daemon
