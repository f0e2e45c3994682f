// Turns a stored asset into a response: raw bytes with Range and conditions (RFC 9110 §13, §14), or JSON with
// base64. Both stream: an asset is never whole in memory. Used by fetch_routes.cpp.
#pragma once
#include "core/storage/assets/asset_reader.hpp"
#include "daemon/http/http.hpp"

namespace dash::daemon {

struct DownloadDeps {
  BufferPool& buffers;
  const Clock& clock;
};

// Finds an asset, possibly with its first bytes.
using FindAsset = std::function<Result<std::pair<storage::FindResult, storage::Prefetched>>()>;

// Returns the response to a GET. An asset that is replaced before its first byte leaves is found and read
// again; Code::busy when that does not end. With If-Match it is Code::precondition instead.
Result<Response> download(const FindAsset& find, bool is_raw, const Request& request, DownloadDeps deps);

// Returns whether the response will probably begin with the asset's first byte.
bool reads_from_start(const Request& request);

// Returns 200, 206 or 304; Code::precondition for If-Match and for an asset that was replaced since it was
// found, Code::bad_range for a range beyond the end. `front` has the first bytes, when they came with
// `found`.
Result<Response> raw_download(storage::FindResult found, storage::Prefetched front, const Request& request,
                              DownloadDeps deps);

// {"name","filename","backend","size","digest","content_b64"}. Code::too_large above the inline ceiling.
Result<Response> json_download(storage::FindResult found, storage::Prefetched front, const Request& request,
                               DownloadDeps deps);

}  // namespace dash::daemon
