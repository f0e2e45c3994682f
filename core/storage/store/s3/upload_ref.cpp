#include "core/storage/store/s3/upload_ref.hpp"

#include "core/base/json.hpp"
#include "core/crypto/hash.hpp"

namespace dash::storage::s3 {

std::string write_upload_ref(const UploadRef& ref) {
  return dump_json(OrderedJson{{"key", ref.key}, {"id", ref.id}});
}

Result<UploadRef> read_upload_ref(const std::string& text) {
  auto json = TRY(parse_json(text));
  auto key = string_member(json, "key");
  auto id = string_member(json, "id");
  if (!key || !id) return fail(Code::invalid, "this is not an upload of an S3 store");
  return UploadRef{*key, *id};
}

std::string composed_etag(const std::vector<StagedPart>& parts) {
  std::string digests;
  for (const auto& part : parts) {
    auto digest = crypto::from_hex(part.ref);
    if (!digest || digest->size() != 16) return "";
    digests += *digest;
  }
  return fmt::format("{}-{}", crypto::to_hex(crypto::md5(digests)), parts.size());
}

std::uint64_t total_size(const std::vector<StagedPart>& parts) {
  std::uint64_t total = 0;
  for (const auto& part : parts) total += part.size;
  return total;
}

}  // namespace dash::storage::s3
