#include "core/storage/store/gcs/rewrite.hpp"

namespace dash::storage::gcs {

// A large object takes several calls, and must be invisible before the last.
Result<StoredObject> rewrite(Client& client, const InsideCopy& copy, const std::string& object_json) {
  const auto& bucket = copy.bucket.empty() ? client.bucket() : copy.bucket;
  auto target = fmt::format("/storage/v1/b/{}/o/{}/rewriteTo/b/{}/o/{}?ifSourceGenerationMatch={}{}",
                            net::percent_encode(bucket), net::percent_encode(copy.from.key),
                            net::percent_encode(client.bucket()), net::percent_encode(copy.to),
                            copy.from.etag, copy.only_if_absent ? "&ifGenerationMatch=0" : "");
  std::uint64_t done = 0;
  for (std::string token;;) {
    TRY(copy.report(done));
    auto response = TRY(client.execute(
        {.what = "copying to " + copy.to,
         .method = "POST",
         .target = token.empty() ? target : target + "&rewriteToken=" + net::percent_encode(token),
         .headers = {{"Content-Type", "application/json; charset=UTF-8"}},
         .body = object_json}));
    auto progress = TRY(parse_rewrite(response.body));
    if (progress.object && progress.object->size != copy.from.size)
      return fail(Code::integrity, "{}: {} has {} bytes where {} were copied", client.place(), copy.to,
                  progress.object->size, copy.from.size);
    if (progress.object) return *std::move(progress.object);
    token = std::move(progress.token);
    done = progress.bytes_done;
  }
}

}  // namespace dash::storage::gcs
