#include "core/agent/protocol/storage_result.hpp"

#include "core/agent/protocol/storage_job.hpp"
#include "core/base/fields.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/hash.hpp"

namespace dash::agent {
namespace {

constexpr std::size_t kMaxEtagBytes = 256;

Result<std::uint64_t> read_size(const Json& object) {
  auto size = TRY(integer_field(object, "size"));
  if (!size || *size < 0) return fail(Code::invalid, "'size' is absent or negative");
  return static_cast<std::uint64_t>(*size);
}

Result<std::string> read_etag(const Json& object) {
  auto etag = TRY(text_field(object, "etag")).value_or("");
  if (etag.size() > kMaxEtagBytes || has_control_character(etag))
    return fail(Code::invalid, "'etag' is longer than {} bytes or has a control character", kMaxEtagBytes);
  return etag;
}

void set_unless_empty(Json& object, const char* name, const std::string& text) {
  if (!text.empty()) object[name] = text;
}

}  // namespace

Json to_json(const ListJobResult& result) {
  auto assets = Json::array();
  for (const auto& file : result.files) {
    Json entry{{"name", file.name}, {"size", file.size}};
    set_unless_empty(entry, "etag", file.etag);
    assets.push_back(std::move(entry));
  }
  Json out{{"assets", std::move(assets)}};
  set_unless_empty(out, "cursor", result.cursor);
  return out;
}

Result<ListJobResult> read_list_result(const Json& result) {
  TRY(require_object(result));
  auto assets = result.find("assets");
  if (assets == result.end() || !assets->is_array()) return fail(Code::invalid, "'assets' is no list");
  ListJobResult out;
  for (const auto& entry : *assets) {
    TRY(require_object(entry));
    SharedFile file;
    file.name = TRY(text_field(entry, "name")).value_or("");
    file.size = TRY(read_size(entry));
    file.etag = TRY(read_etag(entry));
    if (check_job_file_name(file.name)) out.files.push_back(std::move(file));
  }
  out.cursor = TRY(text_field(result, "cursor")).value_or("");
  return out;
}

Json to_json(const FetchJobResult& result) {
  Json out{{"content_b64", crypto::to_base64(result.content)}};
  if (result.size) out["size"] = *result.size;
  set_unless_empty(out, "etag", result.etag);
  return out;
}

Result<FetchJobResult> read_fetch_result(const Json& result) {
  TRY(require_object(result));
  auto text = TRY(text_field(result, "content_b64"));
  if (!text) return fail(Code::invalid, "'content_b64' is absent");
  auto content = crypto::from_base64(*text);
  if (!content) return fail(Code::invalid, "'content_b64' is no base64");
  FetchJobResult out;
  out.content = *std::move(content);
  out.etag = TRY(read_etag(result));
  if (result.contains("size")) out.size = TRY(read_size(result));
  return out;
}

Json to_json(const UploadJobResult& result) {
  Json out{{"size", result.size}};
  set_unless_empty(out, "etag", result.etag);
  return out;
}

Result<UploadJobResult> read_upload_result(const Json& result) {
  TRY(require_object(result));
  UploadJobResult out;
  out.size = TRY(read_size(result));
  out.etag = TRY(read_etag(result));
  return out;
}

Json to_json(const RemoveJobResult& result) {
  return {{"deleted", result.name}, {"existed", result.existed}};
}

Result<RemoveJobResult> read_remove_result(const Json& result) {
  TRY(require_object(result));
  RemoveJobResult out;
  out.name = TRY(text_field(result, "deleted")).value_or("");
  out.existed = TRY(flag_field(result, "existed")).value_or(true);
  return out;
}

}  // namespace dash::agent
