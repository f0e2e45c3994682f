// Reading a range over HTTP (RFC 9110 §14), as all four clouds have it. Called by their store.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/net/http/http_client.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage {

// "bytes=0-99": `size` bytes, one at least.
std::string range_header(std::uint64_t offset, std::uint64_t size);

// Bytes that came. A range beyond the end has none; a store that ignores ranges is not to be used.
Result<std::uint64_t> range_bytes(const Result<net::HttpResponse>& answer, std::uint64_t offset,
                                  std::string_view where);

// An object and its first bytes, by the `answer` to a GET of its front, which `read` reads. An empty object
// has no front: `head` (a HEAD) tells of it then.
Result<OpenResult> to_open_result(const Result<net::HttpResponse>& answer,
                                  const std::function<Result<Object>()>& head,
                                  const std::function<Result<Object>(const net::HttpResponse&)>& read);

// Size of the whole object, of a HEAD's answer or a GET's with or without a range.
Result<std::uint64_t> object_size(const net::HttpResponse& answer, std::string_view where);

}  // namespace dash::storage
