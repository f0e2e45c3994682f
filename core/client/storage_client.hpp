// The storage of an instance, over its API or its data directory. Both implementations return the same JSON
// (the to_json of core/storage), so the commands print the same. Thread-safe.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/stream.hpp"
#include "core/client/upload_client.hpp"
#include "core/net/http/api_client.hpp"
#include "core/storage/assets/migration_jobs.hpp"
#include "core/storage/storage.hpp"

namespace dash::client {

// An asset that is being downloaded, in the version that was opened. Thread-safe.
class OpenAsset {
 public:
  virtual ~OpenAsset() = default;
  virtual std::uint64_t size() const = 0;
  virtual const std::string& digest() const = 0;  // "" when the instance has none
  // Writes exactly the bytes of `range`, at least one, to `out`, in order from position 0 on. After an error
  // the same call begins at 0 again. Code::precondition when the asset was replaced meanwhile.
  virtual Result<void> read(ByteRange range, RandomWriter& out) = 0;
};
struct OpenAssetResult {
  std::unique_ptr<OpenAsset> asset;
  std::size_t prefetched = 0;  // bytes of the front that were read with it
};

class StorageClient {
 public:
  virtual ~StorageClient() = default;
  // Returns the instance's name for messages and for the key of a resumable upload.
  virtual std::string name() const = 0;

  virtual Result<Json> backends() = 0;
  // Returns a page of the assets (to_json of AssetPage). Blank backend: the active one; `cursor` is `next` of the
  // page before, blank for the first. An instance without pages returns everything, without `next`.
  virtual Result<Json> list(const std::string& backend, const std::string& cursor) = 0;
  virtual Result<Json> remove(const std::string& name) = 0;
  virtual Result<Json> test(const std::string& backend, bool is_deep) = 0;
  virtual Result<Json> compare(const storage::CompareRequest& request, Progress& progress) = 0;
  virtual Result<Json> sweep(const storage::SweepRequest& request) = 0;
  virtual Result<Json> migrate(const storage::MigrateRequest& request, Progress& progress) = 0;
  // Called by another thread while one waits in migrate(): cancels the job, and waits a while until it has
  // stopped where this process runs it.
  virtual void stop_migration() = 0;

  // The infrastructure states of the active backend, for admins.
  virtual Result<Json> states() = 0;
  virtual Result<Json> state(const std::string& job) = 0;
  virtual Result<Json> state_history(const std::string& job) = 0;
  virtual Result<Json> unlock_state(const std::string& job, const std::string& id) = 0;

  // Uploads `size` bytes from `content` inline.
  virtual Result<Json> upload(const std::string& name, std::uint64_t size, Source& content) = 0;

  // The chunked uploads of assets.
  virtual UploadClient& uploads() = 0;

  // Reads the front of the asset into `first`.
  virtual Result<OpenAssetResult> open(const std::string& backend, const std::string& name,
                                       std::span<char> first) = 0;
};

// Draws how far a migration is.
void show_progress(Progress& progress, const jobs::JobProgress& of_job);

std::unique_ptr<StorageClient> open_http_storage_client(net::ApiClient& api);
struct LocalStorageDeps {
  storage::Storage& storage;
  storage::MigrationJobs& migrations;
  Principal principal;
  std::string data_dir;
};
std::unique_ptr<StorageClient> open_local_storage_client(LocalStorageDeps deps);

}  // namespace dash::client
