// Generations of an object (cloud.google.com, "Object Versioning"; JSON API, Buckets: get, Objects: list).
// Called by store.cpp.
#pragma once
#include <string>
#include <string_view>

#include "core/storage/store/gcs/client.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::gcs {

// Reads Buckets: get. Pure.
Result<Versioning> parse_versioning(std::string_view json);

struct GenerationsPage {
  std::vector<ObjectVersion> versions;  // of one object, oldest first
  std::string next_page_token;          // empty: this is the last page
};
// Reads Objects: list with versions=true; other objects are left out. Pure.
Result<GenerationsPage> parse_generations(std::string_view json, std::string_view key);

// As ObjectStore::versions(). Unknown without the permission storage.buckets.get.
Result<VersionsResult> find_versions(Client& client, const std::string& key);

}  // namespace dash::storage::gcs
