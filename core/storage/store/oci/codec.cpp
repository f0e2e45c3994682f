#include "core/storage/store/oci/codec.hpp"

#include "core/base/json.hpp"

namespace dash::storage::oci {
namespace {

// The service's limit of the part number.
constexpr std::uint64_t kMaxPart = 10'000;

Failure malformed(std::string_view what) {
  return fail(Code::upstream, "Oracle Object Storage answered {} in a form that is not its API's", what);
}

// The service writes numbers as numbers; a missing one is not zero.
std::optional<std::uint64_t> count_member(const Json& object, const char* key) {
  auto it = object.find(key);
  if (it == object.end() || !it->is_number_unsigned()) return std::nullopt;
  return it->get<std::uint64_t>();
}

std::optional<Time> time_member(const Json& object, const char* key) {
  auto text = string_member(object, key);
  if (!text) return std::nullopt;
  auto time = parse_iso(*text);
  return time ? std::optional(*time) : std::nullopt;
}

Result<Json> parse_array(std::string_view json, std::string_view what) {
  auto value = parse_json(json);
  if (!value || !value->is_array()) return malformed(what);
  return *std::move(value);
}

}  // namespace

Result<ListPage> parse_list(std::string_view json) {
  auto value = parse_json(json);
  if (!value || !value->is_object() || !value->contains("objects") || !(*value)["objects"].is_array())
    return malformed("a list");
  ListPage page;
  for (const auto& item : (*value)["objects"]) {
    if (!item.is_object()) return malformed("a list");
    auto name = string_member(item, "name");
    auto size = count_member(item, "size");
    if (!name || !size) return malformed("a list");
    page.objects.push_back({*std::move(name), *size, string_member(item, "etag").value_or(""),
                            time_member(item, "timeModified").value_or(Time{})});
  }
  page.next_start = string_member(*value, "nextStartWith").value_or("");
  return page;
}

Result<std::string> parse_namespace(std::string_view json) {
  auto value = parse_json(json);
  if (!value || !value->is_string() || value->get_ref<const std::string&>().empty())
    return malformed("the namespace");
  return value->get<std::string>();
}

std::string create_upload_body(std::string_view object, std::string_view metadata_name,
                               std::string_view metadata_value) {
  return dump_json(OrderedJson{{"object", object},
                               {"contentType", "application/octet-stream"},
                               {"metadata", {{std::string(metadata_name), metadata_value}}}});
}

Result<std::string> parse_upload_id(std::string_view json) {
  auto value = parse_json(json);
  auto id = value && value->is_object() ? string_member(*value, "uploadId") : std::nullopt;
  if (!id || id->empty()) return malformed("a new upload");
  return *std::move(id);
}

Result<std::vector<ListedPart>> parse_parts(std::string_view json) {
  auto value = TRY(parse_array(json, "a list of parts"));
  std::vector<ListedPart> parts;
  for (const auto& item : value) {
    if (!item.is_object()) return malformed("a list of parts");
    auto number = count_member(item, "partNumber");
    auto size = count_member(item, "size");
    auto etag = string_member(item, "etag");
    if (!number || *number < 1 || *number > kMaxPart || !size || !etag) return malformed("a list of parts");
    parts.push_back({static_cast<std::uint32_t>(*number), *size, *std::move(etag)});
  }
  return parts;
}

std::string commit_body(const std::vector<PartToCommit>& parts) {
  auto commit = OrderedJson::array();
  for (const auto& part : parts) commit.push_back(OrderedJson{{"partNum", part.number}, {"etag", part.etag}});
  return dump_json(OrderedJson{{"partsToCommit", std::move(commit)}});
}

Result<std::vector<ListedUpload>> parse_uploads(std::string_view json) {
  auto value = TRY(parse_array(json, "a list of uploads"));
  std::vector<ListedUpload> uploads;
  for (const auto& item : value) {
    if (!item.is_object()) return malformed("a list of uploads");
    auto object = string_member(item, "object");
    auto id = string_member(item, "uploadId");
    auto created = time_member(item, "timeCreated");
    if (!object || !id || !created) return malformed("a list of uploads");
    uploads.push_back({*std::move(object), *std::move(id), *created});
  }
  return uploads;
}

Result<std::vector<ObjectVersion>> parse_versions(std::string_view json, std::string_view object) {
  auto value = parse_json(json);
  if (!value || !value->is_object() || !value->contains("items") || !(*value)["items"].is_array())
    return malformed("a list of versions");
  std::vector<ObjectVersion> versions;
  for (const auto& item : (*value)["items"]) {
    if (!item.is_object()) return malformed("a list of versions");
    auto id = string_member(item, "versionId");
    auto modified = time_member(item, "timeModified");
    if (!id || !modified) return malformed("a list of versions");
    if (string_member(item, "name") != object) continue;
    ObjectVersion version{.id = *std::move(id), .modified = *modified};
    version.size = count_member(item, "size").value_or(0);
    version.is_deletion = item.value("isDeleteMarker", Json()) == Json(true);
    versions.push_back(std::move(version));
  }
  return versions;
}

Result<std::string> parse_versioning(std::string_view json) {
  auto value = parse_json(json);
  if (!value || !value->is_object()) return malformed("the bucket");
  return string_member(*value, "versioning").value_or("Disabled");
}

ServiceError parse_error(std::string_view json) {
  auto value = parse_json(json);
  if (!value || !value->is_object()) return {};
  return {string_member(*value, "code").value_or(""), string_member(*value, "message").value_or("")};
}

}  // namespace dash::storage::oci
