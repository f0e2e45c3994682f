#include "core/storage/store/http_object_store.hpp"

#include "core/net/http/http_date.hpp"
#include "core/storage/store/http_range.hpp"
#include "core/storage/store/key.hpp"

namespace dash::storage {

Result<Object> HttpObjectStore::head(const std::string& key) {
  TRY(check_key(key));
  return object_of(key, TRY(send_head(key)));
}

Result<std::uint64_t> HttpObjectStore::read(const std::string& key, ByteRange range,
                                            std::string_view must_match, RandomWriter& out) {
  TRY(check_key(key));
  net::RangeSink body(out, range.size, place());
  return range_bytes(send_get(key, range, must_match, body), range.offset, place());
}

Result<OpenResult> HttpObjectStore::open(const std::string& key, std::span<char> out) {
  TRY(check_key(key));
  SpanWriter memory(out);
  net::RangeSink body(memory, out.size(), place());
  return to_open_result(
      send_get(key, {0, out.size()}, "", body), [&] { return head(key); },
      [&](const net::HttpResponse& answer) -> Result<Object> {
        TRY(check_start(answer, 0, place()));
        return object_of(key, answer);
      });
}

Result<Object> HttpObjectStore::written_object(const std::string& key, const net::HttpResponse& answer,
                                               const Payload& payload, const PutOptions& options) const {
  auto object = describe(key, answer);
  if (object.etag.empty())
    return fail(Code::upstream, "{}: '{}' may not have been written: the answer to it has no etag", place(),
                key);
  object.size = payload.bytes.size();
  object.digest = options.digest;
  return object;
}

Result<Object> HttpObjectStore::object_of(const std::string& key, const net::HttpResponse& answer) const {
  auto object = describe(key, answer);
  object.size = TRY(object_size(answer, fmt::format("{}, '{}'", place(), key)));
  return object;
}

Object describe_by_headers(const std::string& key, const net::HttpResponse& answer,
                           std::string_view digest_header) {
  auto modified = net::parse_http_date(answer.headers.get("Last-Modified").value_or(""));
  return {key, 0, answer.headers.get("ETag").value_or(""), modified.value_or(Time{}),
          answer.headers.get(digest_header).value_or("")};
}

}  // namespace dash::storage
