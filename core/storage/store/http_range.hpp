// Reads a range over HTTP (RFC 9110 §14), as all four clouds do. Called by their store.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/net/http/http_client.hpp"
#include "core/net/http/range_sink.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage {

// Returns "bytes=0-99"; an empty range is taken for its first byte.
std::string range_header(ByteRange range);

// Code::upstream for a part of an object (206) that does not begin at the offset of the request.
Result<void> check_start(const net::HttpResponse& answer, std::uint64_t offset, std::string_view where);

// Returns the number of bytes received. A range beyond the end has none. A store that ignores ranges is
// refused.
Result<std::uint64_t> range_bytes(const Result<net::HttpResponse>& answer, std::uint64_t offset,
                                  std::string_view where);

// Returns an object and its first bytes from `answer`, the response to the GET of its front that `read` sent.
// An empty object has no front: `head` sends a HEAD instead.
Result<OpenResult> to_open_result(const Result<net::HttpResponse>& answer,
                                  const std::function<Result<Object>()>& head,
                                  const std::function<Result<Object>(const net::HttpResponse&)>& read);

// Returns the size of the whole object, from the response to a HEAD, or to a GET with or without a range.
Result<std::uint64_t> object_size(const net::HttpResponse& answer, std::string_view where);

}  // namespace dash::storage
