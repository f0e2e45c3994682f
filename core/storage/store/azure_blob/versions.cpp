#include "core/storage/store/azure_blob/versions.hpp"

#include <algorithm>
#include <charconv>

#include "core/net/http/http_date.hpp"
#include "core/storage/store/cursor.hpp"
#include "core/storage/store/key.hpp"
#include "core/storage/store/xml.hpp"

namespace dash::storage::azure_blob {
namespace {

Failure malformed_versions() {
  return fail(Code::upstream,
              "Azure Blob Storage answered a list of versions in a form that is not its API's");
}

// The newest is the blob itself, or the version that is marked; its copies have the time of a snapshot.
Result<BlobVersion> read_version(const XmlElement& element) {
  auto* name = element.child("Name");
  auto* properties = element.child("Properties");
  if (!name || !properties) return malformed_versions();
  BlobVersion out{name->text, !element.text_of("VersionId").empty(), {}};
  if (name->attribute("Encoded") == "true") out.name = net::percent_decode(name->text).value_or(name->text);
  auto snapshot = element.text_of("Snapshot");
  auto id = snapshot.empty() ? element.text_of("VersionId") : snapshot;
  out.version.id = std::string(id);
  auto size = properties->text_of("Content-Length");
  std::from_chars(size.data(), size.data() + size.size(), out.version.size);
  if (auto at = net::parse_http_date(std::string(properties->text_of("Last-Modified"))))
    out.version.modified = *at;
  out.version.is_current = snapshot.empty() && (id.empty() || element.text_of("IsCurrentVersion") == "true");
  return out;
}

Result<net::HttpResponse> request_versions(Client& client, const std::string& key,
                                           const std::string& marker) {
  Call call{.what = key.empty() ? "asking for versions" : "listing the versions of " + key,
            .query = {{"restype", "container"},
                      {"comp", "list"},
                      {"include", "snapshots,versions"},
                      {"maxresults", "1000"},
                      {"prefix", key}}};
  if (!marker.empty()) call.query.emplace_back("marker", marker);
  return client.execute(call);
}

// Ids are times that sort as text; a blob without one is the newest.
bool is_newer(const ObjectVersion& a, const ObjectVersion& b) {
  if (a.is_current != b.is_current) return a.is_current;
  return a.id > b.id;
}

}  // namespace

Result<VersionsPage> parse_versions(std::string_view xml) {
  auto root = parse_xml(xml);
  if (!root || root->name != "EnumerationResults" || !root->child("Blobs")) return malformed_versions();
  VersionsPage page{{}, std::string(root->text_of("NextMarker"))};
  for (const auto& element : root->child("Blobs")->children)
    if (element.name == "Blob") page.versions.push_back(TRY(read_version(element)));
  return page;
}

Result<VersionsResult> find_versions(Client& client, const std::string& key) {
  if (!key.empty()) TRY(check_key(key));
  VersionsResult result{Versioning::unknown, {}};
  Time newest = Time::min();
  std::string marker;
  do {
    auto response = request_versions(client, key, marker);
    if (!response && response.error().code == Code::not_found) return result;  // no container yet
    auto page = TRY(parse_versions(TRY(std::move(response)).body));
    for (auto& blob : page.versions) {
      if (!key.empty() && blob.name != key) continue;
      if (blob.version.is_current && blob.version.modified >= newest) {
        newest = blob.version.modified;
        result.versioning = blob.has_version_id ? Versioning::on : Versioning::off;
      }
      if (!key.empty()) result.versions.push_back(std::move(blob.version));
    }
    TRY(advance_cursor(marker, std::move(page.next_marker)));
  } while (!key.empty() && !marker.empty());
  std::ranges::sort(result.versions, is_newer);
  return result;
}

}  // namespace dash::storage::azure_blob
