// A read that breaks off goes on after the bytes that came, as long as each attempt brings enough of them: a stream
// of many gigabytes may break more often than a policy of retries allows for one request.
#pragma once
#include <functional>

#include "core/base/stream.hpp"
#include "core/net/http/retry.hpp"

namespace dash::storage {

// Reads a range into a writer, in order from position 0 on, and returns how many bytes there were.
using RangeRead = std::function<Result<std::uint64_t>(ByteRange range, RandomWriter& out)>;

// Calls `read` until it succeeds, fails for good, or `retry` gives up. The retries count anew after 8 MiB. The caller
// sees to it that every call reads the same content.
Result<std::uint64_t> read_resumed(const net::Retry& retry, ByteRange range, RandomWriter& out,
                                   const RangeRead& read);

}  // namespace dash::storage
