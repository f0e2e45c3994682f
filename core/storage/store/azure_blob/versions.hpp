// Versions and snapshots of a blob (learn.microsoft.com, "Blob versioning", List Blobs). Whether an account
// keeps versions is no part of the data's API: a blob that was written while it does has a version id. Called
// by store.cpp.
#pragma once
#include <string>
#include <string_view>

#include "core/storage/store/azure_blob/client.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::azure_blob {

struct BlobVersion {
  std::string name;
  bool has_version_id = false;
  ObjectVersion version;
};
struct VersionsPage {
  std::vector<BlobVersion> versions;
  std::string next_marker;  // empty: this is the last page
};
// Reads List Blobs with include=snapshots,versions. Pure.
Result<VersionsPage> parse_versions(std::string_view xml);

// As ObjectStore::versions(). With a blank key the newest blob of the first page decides.
Result<VersionsResult> find_versions(Client& client, const std::string& key);

}  // namespace dash::storage::azure_blob
