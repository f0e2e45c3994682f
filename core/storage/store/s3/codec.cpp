#include "core/storage/store/s3/codec.hpp"

#include <algorithm>
#include <charconv>

#include "core/storage/store/xml.hpp"

namespace dash::storage::s3 {
namespace {

// encoding-type=url writes names as HTML forms do: '+' is a space.
Result<std::string> read_name(std::string_view text, bool is_encoded) {
  if (!is_encoded) return std::string(text);
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  auto name = net::percent_decode(spaced);
  if (!name) return fail(Code::upstream, "the store's list has a name with a bad escape");
  return *std::move(name);
}

template <class N>
Result<N> read_number(std::string_view text, std::string_view what) {
  N number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(Code::upstream, "the store's answer has no number for {}", what);
  return number;
}

Result<Time> read_time(const XmlElement& element, std::string_view name) {
  auto time = parse_iso(element.text_of(name));
  if (!time) return fail(Code::upstream, "the store's answer has no time for {}", name);
  return *time;
}

Result<XmlElement> read_root(std::string_view xml, std::string_view name) {
  auto root = TRY(parse_xml(xml));
  if (root.name != name)
    return fail(Code::upstream, "the store answered <{}> instead of <{}>", root.name, name);
  return root;
}

bool is_truncated(const XmlElement& root) { return root.text_of("IsTruncated") == "true"; }
bool is_url_encoded(const XmlElement& root) { return root.text_of("EncodingType") == "url"; }

Result<Object> read_object(const XmlElement& element, bool is_encoded) {
  Object object;
  object.key = TRY(read_name(element.text_of("Key"), is_encoded));
  object.size = TRY(read_number<std::uint64_t>(element.text_of("Size"), "Size"));
  object.etag = without_quotes(element.text_of("ETag"));
  object.modified = TRY(read_time(element, "LastModified"));
  return object;
}

}  // namespace

std::string without_quotes(std::string_view etag) {
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') etag = etag.substr(1, etag.size() - 2);
  return std::string(etag);
}

Result<ObjectPage> read_list(std::string_view xml) {
  auto root = TRY(read_root(xml, "ListBucketResult"));
  ObjectPage page;
  for (const auto& child : root.children)
    if (child.name == "Contents") page.objects.push_back(TRY(read_object(child, is_url_encoded(root))));
  if (!is_truncated(root)) return page;
  page.cursor = root.text_of("NextContinuationToken");
  if (page.cursor.empty())
    return fail(Code::upstream, "the store's list goes on but has no token to go on with");
  return page;
}

Result<std::string> read_upload_id(std::string_view xml) {
  auto root = TRY(read_root(xml, "InitiateMultipartUploadResult"));
  std::string id(root.text_of("UploadId"));
  if (id.empty()) return fail(Code::upstream, "the store began an upload without naming it");
  return id;
}

Result<PartsPage> read_parts(std::string_view xml) {
  auto root = TRY(read_root(xml, "ListPartsResult"));
  PartsPage page;
  for (const auto& child : root.children) {
    if (child.name != "Part") continue;
    StagedPart part;
    part.n = TRY(read_number<std::uint32_t>(child.text_of("PartNumber"), "PartNumber"));
    part.size = TRY(read_number<std::uint64_t>(child.text_of("Size"), "Size"));
    part.ref = without_quotes(child.text_of("ETag"));
    page.parts.push_back(std::move(part));
  }
  if (is_truncated(root)) page.next_marker = root.text_of("NextPartNumberMarker");
  return page;
}

Result<UploadsPage> read_uploads(std::string_view xml) {
  auto root = TRY(read_root(xml, "ListMultipartUploadsResult"));
  auto is_encoded = is_url_encoded(root);
  UploadsPage page;
  for (const auto& child : root.children) {
    if (child.name != "Upload") continue;
    auto key = TRY(read_name(child.text_of("Key"), is_encoded));
    auto begun = TRY(read_time(child, "Initiated"));
    page.uploads.push_back({std::move(key), std::string(child.text_of("UploadId")), begun});
  }
  if (!is_truncated(root)) return page;
  page.next_key_marker = TRY(read_name(root.text_of("NextKeyMarker"), is_encoded));
  page.next_id_marker = root.text_of("NextUploadIdMarker");
  return page;
}

Result<VersionsPage> read_versions(std::string_view xml, std::string_view key) {
  auto root = TRY(read_root(xml, "ListVersionsResult"));
  auto is_encoded = is_url_encoded(root);
  VersionsPage page;
  for (const auto& child : root.children) {
    bool is_deletion = child.name == "DeleteMarker";
    if ((child.name != "Version" && !is_deletion) || TRY(read_name(child.text_of("Key"), is_encoded)) != key)
      continue;
    ObjectVersion version{.id = std::string(child.text_of("VersionId"))};
    version.is_current = child.text_of("IsLatest") == "true";
    version.is_deletion = is_deletion;
    if (!is_deletion) version.size = TRY(read_number<std::uint64_t>(child.text_of("Size"), "Size"));
    version.modified = TRY(read_time(child, "LastModified"));
    page.versions.push_back(std::move(version));
  }
  if (!is_truncated(root)) return page;
  page.next_key_marker = TRY(read_name(root.text_of("NextKeyMarker"), is_encoded));
  page.next_id_marker = root.text_of("NextVersionIdMarker");
  return page;
}

Result<std::string> read_versioning(std::string_view xml) {
  return std::string(TRY(read_root(xml, "VersioningConfiguration")).text_of("Status"));
}

Result<CompletionResult> read_completion(std::string_view xml) {
  auto root = TRY(parse_xml(xml));
  if (root.name == "Error") return CompletionResult{"", read_refusal(xml)};
  if (root.name != "CompleteMultipartUploadResult" && root.name != "CopyObjectResult" &&
      root.name != "CopyPartResult")
    return fail(Code::upstream, "the store answered <{}> instead of a result", root.name);
  return CompletionResult{without_quotes(root.text_of("ETag")), std::nullopt};
}

Refusal read_refusal(std::string_view xml) {
  auto root = parse_xml(xml);
  Refusal refusal;
  if (!root || root->name != "Error") return refusal;
  refusal.code = root->text_of("Code");
  refusal.message = root->text_of("Message");
  refusal.region = root->text_of("Region");
  return refusal;
}

std::string write_complete(const std::vector<StagedPart>& parts) {
  XmlElement root{"CompleteMultipartUpload", "", {{"xmlns", "http://s3.amazonaws.com/doc/2006-03-01/"}}, {}};
  for (const auto& part : parts)
    root.children.push_back({"Part",
                             "",
                             {},
                             {{"PartNumber", std::to_string(part.n), {}, {}},
                              {"ETag", fmt::format("\"{}\"", part.ref), {}, {}}}});
  return write_xml(root);
}

}  // namespace dash::storage::s3
