// The result of begin(): the object's key and the store's id of the multipart upload, as text that is part of
// a sealed handle. Pure. Called by store.cpp.
#pragma once
#include <string>
#include <vector>

#include "core/storage/store/store.hpp"

namespace dash::storage::s3 {

struct UploadRef {
  std::string key;
  std::string id;
};

std::string write_upload_ref(const UploadRef& ref);
Result<UploadRef> read_upload_ref(const std::string& text);

// Returns the etag that S3 gives an object of these parts: md5 of their md5s, and how many. "" when a part's
// ref is no md5 (a bucket encrypted with a customer's key).
std::string composed_etag(const std::vector<StagedPart>& parts);
std::uint64_t total_size(const std::vector<StagedPart>& parts);

}  // namespace dash::storage::s3
