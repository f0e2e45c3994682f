// Copies that the service makes: CopyObject, and UploadPartCopy for what one request does not take
// (docs.aws.amazon.com/AmazonS3/latest/userguide, "Copying objects"). Called by store.cpp.
#pragma once
#include <chrono>
#include <vector>

#include "core/storage/store/s3/client.hpp"
#include "core/storage/store/s3/upload_ref.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::s3 {

inline constexpr std::uint64_t kMaxCopyBytes = 5ull << 30;  // of one request
// Copying, and completing an upload, may take minutes of silence.
inline constexpr std::chrono::minutes kAssembleTimeout{10};

// Code::precondition when the source was replaced meanwhile.
Result<void> copy_whole(const Client& client, const InsideCopy& copy);
// Fills the upload with the source's bytes and returns its parts.
Result<std::vector<StagedPart>> copy_parts(const Client& client, const UploadRef& upload,
                                           const InsideCopy& copy);

}  // namespace dash::storage::s3
