// Copies the asset of a run from its store into the run's folder.
#pragma once
#include <string>

#include "core/base/buffer_pool.hpp"
#include "core/jobs/job.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::automation {

// The word of a job whose asset is no more what it was when the run was requested.
inline constexpr std::string_view kAssetChanged = "asset_changed";

struct FetchDeps {
  storage::Stores& stores;
  BufferPool& buffers;
};
// Writes the asset that the job's request names (asset, backend, asset_etag, asset_digest) to `path`. Returns
// false when other bytes lie there, or none.
Result<bool> fetch_asset(const FetchDeps& deps, const jobs::Job& job, const std::string& path);

}  // namespace dash::automation
