#include "core/storage/store/http_range.hpp"

#include <algorithm>
#include <charconv>

namespace dash::storage {

std::string range_header(ByteRange range) {
  return fmt::format("bytes={}-{}", range.offset, range.offset + std::max<std::uint64_t>(range.size, 1) - 1);
}

Result<void> check_start(const net::HttpResponse& answer, std::uint64_t offset, std::string_view where) {
  if (answer.status != 206) return {};
  auto range = answer.headers.get("Content-Range").value_or("");
  if (range.starts_with(fmt::format("bytes {}-", offset))) return {};
  return fail(Code::upstream, "{}: the store sent another range than the one that begins at {}", where,
              offset);
}

Result<std::uint64_t> range_bytes(const Result<net::HttpResponse>& answer, std::uint64_t offset,
                                  std::string_view where) {
  if (!answer && answer.error().code == Code::bad_range) return 0u;
  if (!answer) return Failure(answer.error());
  if (answer->status != 206 && offset > 0)
    return fail(Code::upstream, "{}: the store ignores ranges (status {})", where, answer->status);
  TRY(check_start(*answer, offset, where));
  return answer->body_size;
}

Result<OpenResult> to_open_result(const Result<net::HttpResponse>& answer,
                                  const std::function<Result<Object>()>& head,
                                  const std::function<Result<Object>(const net::HttpResponse&)>& read) {
  if (!answer && answer.error().code == Code::bad_range) return OpenResult{TRY(head()), 0};
  if (!answer) return Failure(answer.error());
  return OpenResult{TRY(read(*answer)), answer->body_size};
}

Result<std::uint64_t> object_size(const net::HttpResponse& answer, std::string_view where) {
  auto text = answer.headers.get(answer.status == 206 ? "Content-Range" : "Content-Length").value_or("");
  auto digits = std::string_view(text).substr(text.rfind('/') + 1);
  std::uint64_t size = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (!digits.empty() && error == std::errc() && end == digits.data() + digits.size()) return size;
  return fail(Code::upstream, "{}: the object came without its size", where);
}

}  // namespace dash::storage
