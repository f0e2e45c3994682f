// Copy Blob (learn.microsoft.com, "Copy Blob"): the service may copy after its response, and meanwhile the
// target exists without its bytes. Such a blob is neither listed nor found. Called by store.cpp.
#pragma once
#include <string_view>

#include "core/storage/store/azure_blob/client.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::azure_blob {

inline constexpr std::string_view kCopyStatus = "x-ms-copy-status";

// `status` is that of the copy which made the blob; blank: none did.
bool has_all_bytes(std::string_view status);
Call copy_call(const Client& client, const InsideCopy& copy);
// Waits for the copy that `begun` answers. Aborts it and deletes the target when it fails or is ended.
Result<void> finish_copy(Client& client, const InsideCopy& copy, const net::HttpResponse& begun);
// Deletes the blob when it is what a failed copy left, and returns whether.
Result<bool> drop_failed_copy(Client& client, const std::string& key);

}  // namespace dash::storage::azure_blob
