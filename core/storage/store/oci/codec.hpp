// JSON of the Object Storage API ↔ structs (docs.oracle.com, Object Storage Service API 20160918). Pure. The
// input comes from a server, so every shape is checked. Called by store.cpp.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::oci {

struct ListedObject {
  std::string name;
  std::uint64_t size = 0;
  std::string etag;
  Time modified;
};
struct ListPage {
  std::vector<ListedObject> objects;
  std::string next_start;  // name of the first object of the next page; empty: last page
};
Result<ListPage> parse_list(std::string_view json);

// Reads GET /n: the tenancy's namespace as a JSON string.
Result<std::string> parse_namespace(std::string_view json);

// Returns a body that gives the object the metadata `metadata_name` (opc-meta-…) → `metadata_value`.
std::string create_upload_body(std::string_view object, std::string_view metadata_name,
                               std::string_view metadata_value);
Result<std::string> parse_upload_id(std::string_view json);

struct ListedPart {
  std::uint32_t number = 0;
  std::uint64_t size = 0;
  std::string etag;
};
Result<std::vector<ListedPart>> parse_parts(std::string_view json);

struct PartToCommit {
  std::uint32_t number = 0;
  std::string_view etag;
};
std::string commit_body(const std::vector<PartToCommit>& parts);

struct ListedUpload {
  std::string object;
  std::string id;
  Time created;
};
Result<std::vector<ListedUpload>> parse_uploads(std::string_view json);

// Reads ListObjectVersions; versions of other objects are left out.
Result<std::vector<ObjectVersion>> parse_versions(std::string_view json, std::string_view object);
// Reads GetBucket: "Enabled", "Suspended" or "Disabled".
Result<std::string> parse_versioning(std::string_view json);

struct ServiceError {
  std::string code;
  std::string message;
};
// Returns empty members when the body is no error of the service (a proxy's page, for example).
ServiceError parse_error(std::string_view json);

}  // namespace dash::storage::oci
