#include "core/storage/store/azure_blob/codec.hpp"

#include <charconv>

#include "core/crypto/hash.hpp"
#include "core/net/http/http_client.hpp"
#include "core/net/http/http_date.hpp"
#include "core/storage/store/xml.hpp"

namespace dash::storage::azure_blob {
namespace {

constexpr std::string_view kTimedId = "da5b";  // the start of an upload's id that goes on with its time
constexpr std::size_t kTimeDigits = 8;         // seconds since 1970
constexpr std::size_t kUploadIdSize = 32;
constexpr std::size_t kPartDigits = 5;

Failure malformed(std::string_view what) {
  return fail(Code::upstream, "Azure Blob Storage answered {} in a form that is not its API's", what);
}

template <class T>
std::optional<T> decimal(std::string_view text) {
  T value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A name with characters that XML cannot have is percent-encoded and marked.
std::optional<std::string> blob_name(const XmlElement& blob) {
  auto* name = blob.child("Name");
  if (!name || name->text.empty()) return std::nullopt;
  return name->attribute("Encoded") == "true" ? net::percent_decode(name->text) : name->text;
}

Result<ListedBlob> read_blob(const XmlElement& element) {
  auto name = blob_name(element);
  auto* properties = element.child("Properties");
  if (!name || !properties) return malformed("a list");
  auto size = decimal<std::uint64_t>(properties->text_of("Content-Length"));
  if (!size) return malformed("a list");
  ListedBlob blob{*std::move(name), *size, std::string(properties->text_of("Etag")), {}, {}};
  blob.copy_status = properties->text_of("CopyStatus");
  if (auto modified = net::parse_http_date(std::string(properties->text_of("Last-Modified"))))
    blob.modified = *modified;
  if (auto* metadata = element.child("Metadata")) blob.digest = metadata->text_of(kDigestMetadata);
  return blob;
}

}  // namespace

Result<ListPage> parse_list(std::string_view xml) {
  auto root = parse_xml(xml);
  if (!root || root->name != "EnumerationResults") return malformed("a list");
  auto* blobs = root->child("Blobs");
  if (!blobs) return malformed("a list");
  ListPage page;
  page.next_marker = root->text_of("NextMarker");
  for (const auto& element : blobs->children)
    if (element.name == "Blob") page.blobs.push_back(TRY(read_blob(element)));
  return page;
}

std::string new_upload_id(Time now) {
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  return fmt::format("{}{:08x}{}", kTimedId, static_cast<std::uint32_t>(seconds), crypto::random_hex(10));
}

std::optional<Time> began_at(std::string_view id) {
  auto plain = crypto::from_base64(id);
  if (!plain || plain->size() != kUploadIdSize + 1 + kPartDigits || !plain->starts_with(kTimedId) ||
      (*plain)[kUploadIdSize] != '-')
    return std::nullopt;
  auto digits = std::string_view(*plain).substr(kTimedId.size(), kTimeDigits);
  std::uint32_t seconds = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return Time{} + std::chrono::seconds(seconds);
}

std::string block_id(std::string_view upload_id, std::uint32_t part) {
  return crypto::to_base64(fmt::format("{}-{:05}", upload_id, part));
}

std::optional<std::uint32_t> part_of(std::string_view id, std::string_view upload_id) {
  auto plain = crypto::from_base64(id);
  if (!plain || !plain->starts_with(fmt::format("{}-", upload_id))) return std::nullopt;
  auto part = decimal<std::uint32_t>(std::string_view(*plain).substr(upload_id.size() + 1));
  return part && block_id(upload_id, *part) == id ? part : std::nullopt;
}

Result<std::vector<Block>> parse_blocks(std::string_view xml) {
  auto root = parse_xml(xml);
  if (!root || root->name != "BlockList") return malformed("a block list");
  std::vector<Block> blocks;
  auto* staged = root->child("UncommittedBlocks");
  if (!staged) return blocks;
  for (const auto& element : staged->children) {
    auto size = decimal<std::uint64_t>(element.text_of("Size"));
    if (element.name != "Block" || element.text_of("Name").empty() || !size) return malformed("a block list");
    blocks.push_back({std::string(element.text_of("Name")), *size});
  }
  return blocks;
}

std::string block_list(const std::vector<std::string>& ids) {
  XmlElement list{"BlockList", {}, {}, {}};
  for (const auto& id : ids) list.children.push_back({"Uncommitted", id, {}, {}});
  return write_xml(list);
}

ServiceError parse_error(std::string_view xml) {
  auto root = parse_xml(xml);
  if (!root || root->name != "Error") return {};
  auto message = root->text_of("Message");
  return {std::string(root->text_of("Code")), std::string(message.substr(0, message.find('\n')))};
}

}  // namespace dash::storage::azure_blob
