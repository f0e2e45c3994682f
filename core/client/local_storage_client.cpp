#include "core/client/stoppable.hpp"
#include "core/client/storage_client.hpp"

namespace dash::client {
namespace {

// Returns the document that the API would send.
Json as_sent(const OrderedJson& answer) { return Json(answer); }

class LocalAsset final : public OpenAsset {
 public:
  explicit LocalAsset(storage::FindResult found) : found_(std::move(found)) {}
  std::uint64_t size() const override { return found_.object.size; }
  const std::string& digest() const override { return found_.asset.digest; }
  Result<void> read(ByteRange range, RandomWriter& out) override {
    auto got = TRY(found_.store->read(found_.key, range, found_.object.etag, out));
    if (got == range.size) return {};
    return fail(Code::integrity, "the store ended '{}' early; fetch it again", found_.asset.name);
  }

 private:
  storage::FindResult found_;
};

class LocalStorageClient final : public StorageClient {
 public:
  explicit LocalStorageClient(LocalStorageDeps deps)
      : deps_(std::move(deps)),
        uploads_(open_local_upload_client(deps_.storage.uploads(), deps_.principal, deps_.data_dir)) {}
  std::string name() const override { return deps_.data_dir; }

  Result<Json> backends() override { return as_sent(TRY(deps_.storage.backends(deps_.principal))); }
  Result<Json> list(const std::string& backend, const std::string& cursor) override {
    auto named = backend.empty() ? std::nullopt : std::optional<std::string_view>(backend);
    return as_sent(to_json(TRY(deps_.storage.assets().list_page(deps_.principal, named, cursor))));
  }
  Result<Json> remove(const std::string& name) override {
    TRY(deps_.storage.assets().remove(deps_.principal, name));
    return Json{{"ok", true}, {"deleted", name}};
  }
  Result<Json> test(const std::string& backend, bool is_deep) override {
    if (is_deep) return as_sent(to_json(TRY(deps_.storage.deep_test(deps_.principal, backend))));
    return as_sent(to_json(TRY(deps_.storage.assets().test(deps_.principal, backend))));
  }
  Result<Json> compare(const storage::CompareRequest& request, Progress& progress) override {
    return as_sent(to_json(TRY(deps_.storage.compare(deps_.principal, request, progress))));
  }
  Result<Json> sweep(const storage::SweepRequest& request) override {
    return as_sent(to_json(TRY(deps_.storage.sweep(deps_.principal, request))));
  }
  Result<Json> migrate(const storage::MigrateRequest& request, Progress& progress) override {
    return as_sent(TRY(migration_.run([&] {
      return deps_.migrations.run(
          deps_.principal, request, [this] { return migration_.is_stopped(); },
          [&](const jobs::JobProgress& of_job) { show_progress(progress, of_job); });
    })));
  }
  void stop_migration() override { migration_.stop(); }

  Result<Json> states() override {
    return as_sent(to_json(TRY(deps_.storage.states().list(deps_.principal))));
  }
  Result<Json> state(const std::string& job) override {
    return as_sent(show_json(TRY(deps_.storage.states().show(deps_.principal, job))));
  }
  Result<Json> state_history(const std::string& job) override {
    return as_sent(to_json(TRY(deps_.storage.states().history(deps_.principal, job))));
  }
  Result<Json> unlock_state(const std::string& job, const std::string& id) override {
    TRY(deps_.storage.states().unlock(deps_.principal, job, id));
    return Json{{"ok", true}, {"job", job}, {"id", id}};
  }

  Result<Json> upload(const std::string& name, std::uint64_t, Source& content) override {
    auto file = TRY(deps_.storage.open_streaming_upload(deps_.principal));
    TRY(file->name(name));
    TRY(copy_all(content, *file));
    return as_sent(to_json(TRY(file->finish())));
  }

  UploadClient& uploads() override { return *uploads_; }

  Result<OpenAssetResult> open(const std::string& backend, const std::string& name,
                               std::span<char> first) override {
    auto [found, size] = TRY(deps_.storage.assets().open(deps_.principal, backend, name, first));
    return OpenAssetResult{std::make_unique<LocalAsset>(std::move(found)), size};
  }

 private:
  LocalStorageDeps deps_;
  Stoppable migration_;
  std::unique_ptr<UploadClient> uploads_;
};

}  // namespace

void show_progress(Progress& progress, const jobs::JobProgress& of_job) {
  progress.update(fmt::format("{} of {} assets", of_job.items_done, of_job.items_total), of_job.bytes_done,
                  of_job.bytes_total, Unit::bytes);
}

std::unique_ptr<StorageClient> open_local_storage_client(LocalStorageDeps deps) {
  return std::make_unique<LocalStorageClient>(std::move(deps));
}

}  // namespace dash::client
