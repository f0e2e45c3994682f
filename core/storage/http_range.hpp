// Reading a range over HTTP (RFC 9110 §14), as all four clouds have it. Called by their store.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/net/http_client.hpp"
#include "core/storage/store.hpp"

namespace dash::storage {

// "bytes=0-99": as many bytes as `out` holds, one at least.
std::string range_header(std::uint64_t offset, std::span<char> out);

// Bytes that came. A range beyond the end has none; a store that ignores ranges is not to be used.
Result<std::size_t> range_bytes(const Result<net::HttpResponse>& answer, std::uint64_t offset,
                                std::string_view where);

// Size of the whole object, of a HEAD's answer or a GET's with or without a range.
Result<std::uint64_t> object_size(const net::HttpResponse& answer, std::string_view where);

}  // namespace dash::storage
