#include "core/storage/store/gcs/codec.hpp"

#include <charconv>

#include "core/base/json.hpp"

namespace dash::storage::gcs {
namespace {

Failure malformed(std::string_view what) {
  return fail(Code::upstream, "Google Cloud Storage answered {} in a form that is not its API's", what);
}

std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The API writes 64-bit numbers as strings.
std::optional<std::uint64_t> count_member(const Json& object, const char* key) {
  auto text = string_member(object, key);
  return text ? decimal(*text) : std::nullopt;
}

std::string metadata_member(const Json& object, std::string_view key) {
  auto it = object.find("metadata");
  return it != object.end() && it->is_object() ? string_member(*it, key).value_or("") : "";
}

Result<StoredObject> read_object(const Json& json) {
  if (!json.is_object()) return malformed("an object");
  StoredObject object;
  auto name = string_member(json, "name");
  auto size = count_member(json, "size");
  auto generation = string_member(json, "generation");
  if (!name || name->empty() || !size || !generation || !decimal(*generation)) return malformed("an object");
  object.name = *std::move(name);
  object.size = *size;
  object.generation = *std::move(generation);
  object.md5 = string_member(json, "md5Hash").value_or("");
  object.crc32c = string_member(json, "crc32c").value_or("");
  auto updated = parse_iso(string_member(json, "updated").value_or(""));
  if (updated) object.updated = *updated;
  object.digest = metadata_member(json, kDigestMember);
  object.upload = metadata_member(json, kUploadMember);
  return object;
}

}  // namespace

Result<StoredObject> parse_object(std::string_view text) {
  auto json = parse_json(text);
  if (!json) return malformed("an object");
  return read_object(*json);
}

Result<ListPage> parse_list(std::string_view text) {
  auto json = parse_json(text);
  if (!json || !json->is_object()) return malformed("a list");
  ListPage page;
  page.next_page_token = string_member(*json, "nextPageToken").value_or("");
  auto items = json->find("items");
  if (items == json->end()) return page;
  if (!items->is_array()) return malformed("a list");
  for (const auto& item : *items) page.objects.push_back(TRY(read_object(item)));
  return page;
}

Result<RewriteProgress> parse_rewrite(std::string_view text) {
  auto json = parse_json(text);
  if (!json || !json->is_object() || !json->contains("done") || !(*json)["done"].is_boolean())
    return malformed("a rewrite");
  RewriteProgress progress;
  if ((*json)["done"].get<bool>()) {
    if (!json->contains("resource")) return malformed("a rewrite");
    progress.object = TRY(read_object((*json)["resource"]));
  } else {
    progress.token = string_member(*json, "rewriteToken").value_or("");
    if (progress.token.empty()) return malformed("a rewrite");
    auto bytes = string_member(*json, "totalBytesRewritten").value_or("0");
    std::from_chars(bytes.data(), bytes.data() + bytes.size(), progress.bytes_done);
  }
  return progress;
}

std::string object_body(std::string_view name, std::string_view digest, std::string_view upload,
                        std::string_view md5) {
  OrderedJson body{{"contentType", "application/octet-stream"}};
  if (!name.empty()) body["name"] = name;
  if (!md5.empty()) body["md5Hash"] = md5;
  if (!digest.empty()) body["metadata"][std::string(kDigestMember)] = digest;
  if (!upload.empty()) body["metadata"][std::string(kUploadMember)] = upload;
  return dump_json(body);
}

MultipartBody multipart_body(std::string_view object_json, std::string_view bytes,
                             std::string_view boundary) {
  MultipartBody body{fmt::format("multipart/related; boundary={}", boundary), {}};
  auto head = fmt::format(
      "--{0}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n{1}\r\n--{0}\r\n"
      "Content-Type: application/octet-stream\r\n\r\n",
      boundary, object_json);
  auto tail = fmt::format("\r\n--{}--\r\n", boundary);
  body.bytes.reserve(head.size() + bytes.size() + tail.size());
  body.bytes.append(head).append(bytes).append(tail);
  return body;
}

std::string content_range(std::uint64_t offset, std::uint64_t size, std::optional<std::uint64_t> total) {
  auto whole = total ? std::to_string(*total) : "*";
  if (size == 0) return fmt::format("bytes */{}", whole);
  return fmt::format("bytes {}-{}/{}", offset, offset + size - 1, whole);
}

Result<std::uint64_t> parse_received_size(std::optional<std::string_view> range) {
  if (!range) return 0;
  constexpr std::string_view kFromStart = "bytes=0-";
  auto last = range->starts_with(kFromStart) ? decimal(range->substr(kFromStart.size())) : std::nullopt;
  if (!last || *last == UINT64_MAX) return malformed("the state of an upload");
  return *last + 1;
}

Result<std::string> session_target(std::string_view location) {
  auto scheme = location.find("://");
  auto path = scheme == location.npos ? location.npos : location.find('/', scheme + 3);
  bool is_plain = path != location.npos;
  for (char c : location) is_plain = is_plain && c > ' ' && c < '\x7f' && c != '#';
  if (!is_plain || location.find("upload_id=") == location.npos) return malformed("a new upload");
  return std::string(location.substr(path));
}

ServiceError parse_error(std::string_view text) {
  auto json = parse_json(text);
  if (!json || !json->is_object()) return {};
  if (auto word = string_member(*json, "error"))
    return {*word, string_member(*json, "error_description").value_or("")};
  auto error = json->find("error");
  if (error == json->end() || !error->is_object()) return {};
  ServiceError out{"", string_member(*error, "message").value_or("")};
  auto errors = error->find("errors");
  if (errors != error->end() && errors->is_array() && !errors->empty() && errors->front().is_object())
    out.code = string_member(errors->front(), "reason").value_or("");
  return out;
}

}  // namespace dash::storage::gcs
