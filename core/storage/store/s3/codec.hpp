// S3's XML as values and back (docs.aws.amazon.com/AmazonS3/latest/API, version 2006-03-01). Pure; golden and
// fuzz tests feed it. Called by store.cpp.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/store/http_error.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::s3 {

// Reads ListObjectsV2. ObjectPage::cursor is the continuation token.
Result<ObjectPage> read_list(std::string_view xml);

// Reads CreateMultipartUpload.
Result<std::string> read_upload_id(std::string_view xml);

struct PartsPage {
  std::vector<StagedPart> parts;
  std::string next_marker;  // empty: this is the last page
};
// Reads ListParts.
Result<PartsPage> read_parts(std::string_view xml);

struct ListedUpload {
  std::string key;
  std::string id;
  Time began;
};
struct UploadsPage {
  std::vector<ListedUpload> uploads;
  std::string next_key_marker;  // both empty: this is the last page
  std::string next_id_marker;
};
// Reads ListMultipartUploads.
Result<UploadsPage> read_uploads(std::string_view xml);

struct VersionsPage {
  std::vector<ObjectVersion> versions;  // of one key, newest first
  std::string next_key_marker;          // both empty: this is the last page
  std::string next_id_marker;
};
// Reads ListObjectVersions; versions of other keys are left out.
Result<VersionsPage> read_versions(std::string_view xml, std::string_view key);
// Reads GetBucketVersioning: "Enabled", "Suspended", or "" for a bucket that never kept versions.
Result<std::string> read_versioning(std::string_view xml);

struct CompletionResult {
  std::string etag;
  std::optional<StoreError> refusal;  // an <Error> in a response with status 200
};
// Reads CompleteMultipartUpload, CopyObject and UploadPartCopy: their status is sent before the work is done.
Result<CompletionResult> read_completion(std::string_view xml);

struct Refusal : StoreError {
  std::string region;  // the bucket's region, when the store reports it
};
// Reads <Error>; empty for anything else (a proxy's page, nothing).
Refusal read_refusal(std::string_view xml);

std::string write_complete(const std::vector<StagedPart>& parts);

std::string without_quotes(std::string_view etag);

}  // namespace dash::storage::s3
