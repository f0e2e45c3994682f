#include "core/storage/store/s3/copy.hpp"

#include <algorithm>

#include "core/storage/store/s3/codec.hpp"
#include "core/storage/store/s3/errors.hpp"

namespace dash::storage::s3 {
namespace {

// 64 parts of the largest image; a copy that is to stop ends with the part under way.
constexpr std::uint64_t kCopyPartBytes = 1ull << 30;

// Returns the copy's etag. The status 200 is sent before the work is done, so an error can stand in the body.
Result<std::string> send_copy(const Client& client, const InsideCopy& copy, Call call) {
  const auto& bucket = copy.bucket.empty() ? client.address().bucket : copy.bucket;
  call.method = "PUT";
  call.headers.add("x-amz-copy-source", fmt::format("/{}/{}", net::percent_encode(bucket),
                                                    net::percent_encode(copy.from.key, true)));
  call.headers.add("x-amz-copy-source-if-match", fmt::format("\"{}\"", copy.from.etag));
  call.idle_timeout = kAssembleTimeout;
  call.doing = fmt::format("copying '{}' to '{}'", copy.from.key, copy.to);
  auto answer = TRY(client.call(call));
  auto result = TRY(within(client.name(), read_completion(answer.body)));
  if (result.refusal) return Failure(error_in_body(*result.refusal, client.where(call.doing)));
  return result.etag;
}

}  // namespace

Result<void> copy_whole(const Client& client, const InsideCopy& copy) {
  TRY(send_copy(client, copy, {.method = "PUT", .key = copy.to}));
  return {};
}

Result<std::vector<StagedPart>> copy_parts(const Client& client, const UploadRef& upload,
                                           const InsideCopy& copy) {
  std::vector<StagedPart> parts;
  for (std::uint64_t done = 0; done < copy.from.size;) {
    TRY(copy.report(done));
    auto n = static_cast<std::uint32_t>(parts.size() + 1);
    auto size = std::min(kCopyPartBytes, copy.from.size - done);
    Call call{.method = "PUT",
              .key = upload.key,
              .query = {{"partNumber", std::to_string(n)}, {"uploadId", upload.id}}};
    // The service takes no range of a small object.
    if (size != copy.from.size)
      call.headers.add("x-amz-copy-source-range", fmt::format("bytes={}-{}", done, done + size - 1));
    auto etag = TRY(send_copy(client, copy, std::move(call)));
    parts.push_back({n, size, std::move(etag)});
    done += size;
  }
  TRY(copy.report(copy.from.size));
  return parts;
}

}  // namespace dash::storage::s3
