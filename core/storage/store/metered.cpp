#include "core/storage/store/metered.hpp"

#include "core/base/metrics.hpp"

namespace dash::storage {
namespace {

class MeteredStore final : public ObjectStore {
 public:
  MeteredStore(std::shared_ptr<ObjectStore> store, std::string backend)
      : store_(std::move(store)), backend_(std::move(backend)) {}

  Capabilities capabilities() const override { return store_->capabilities(); }
  std::string place() const override { return store_->place(); }

  Result<ObjectPage> list(std::string_view prefix, std::string_view cursor) override {
    return timed("list", [&] { return store_->list(prefix, cursor); });
  }
  Result<void> forget_listing() override { return store_->forget_listing(); }
  Result<Object> head(const std::string& key) override {
    return timed("head", [&] { return store_->head(key); });
  }
  Result<std::uint64_t> read(const std::string& key, ByteRange range, std::string_view must_match,
                             RandomWriter& out) override {
    auto size = timed("read", [&] { return store_->read(key, range, must_match, out); });
    if (size) count("read", *size);
    return size;
  }
  Result<OpenResult> open(const std::string& key, std::span<char> out) override {
    auto opened = timed("read", [&] { return store_->open(key, out); });
    if (opened) count("read", opened->size);
    return opened;
  }
  Result<Object> put(const std::string& key, const Payload& payload, const PutOptions& options) override {
    auto made = timed("put", [&] { return store_->put(key, payload, options); });
    if (made) count("put", payload.bytes.size());
    return made;
  }
  Result<void> remove(const std::string& key) override {
    return timed("remove", [&] { return store_->remove(key); });
  }
  Result<void> remove_unchanged(const Object& object) override {
    return timed("remove", [&] { return store_->remove_unchanged(object); });
  }
  Result<std::string> begin(const std::string& key, std::optional<std::uint64_t> size) override {
    return timed("begin", [&] { return store_->begin(key, size); });
  }
  Result<std::string> begin_at_once(const std::string& key, std::uint64_t size) override {
    return timed("begin", [&] { return store_->begin_at_once(key, size); });
  }
  Result<std::string> put_part(const std::string& upload, std::uint32_t n, const Payload& payload,
                               bool is_last) override {
    auto ref = timed("put_part", [&] { return store_->put_part(upload, n, payload, is_last); });
    if (ref) count("put_part", payload.bytes.size());
    return ref;
  }
  Result<std::vector<StagedPart>> staged_parts(const std::string& upload) override {
    return timed("staged_parts", [&] { return store_->staged_parts(upload); });
  }
  Result<Object> commit(const std::string& upload, const std::vector<StagedPart>& parts,
                        const PutOptions& options) override {
    return timed("commit", [&] { return store_->commit(upload, parts, options); });
  }
  Result<void> abort(const std::string& upload) override {
    return timed("abort", [&] { return store_->abort(upload); });
  }
  Result<void> check_target(const std::string& key) override { return store_->check_target(key); }
  Result<std::optional<std::string>> find_lease(const std::string& key) override {
    return timed("lease", [&] { return store_->find_lease(key); });
  }
  Result<void> take_lease(const std::string& key, const std::string& id, const std::string& note) override {
    return timed("lease", [&] { return store_->take_lease(key, id, note); });
  }
  Result<void> release_lease(const std::string& key, const std::string& id) override {
    return timed("lease", [&] { return store_->release_lease(key, id); });
  }
  Result<std::vector<Leftover>> leftovers(std::string_view prefix, Time older_than) override {
    return timed("leftovers", [&] { return store_->leftovers(prefix, older_than); });
  }
  Result<void> drop(const Leftover& leftover) override {
    return timed("drop", [&] { return store_->drop(leftover); });
  }
  Result<VersionsResult> versions(const std::string& key) override {
    return timed("versions", [&] { return store_->versions(key); });
  }
  Result<Object> copy_inside(const InsideCopy& copy) override {
    return timed("copy", [&] { return store_->copy_inside(copy); });
  }

 private:
  template <class Call>
  auto timed(const char* operation, Call&& call) -> decltype(call()) {
    auto began = std::chrono::steady_clock::now();
    auto result = call();
    metrics::observe(metrics::kStoreSeconds,
                     {backend_, operation, result ? "ok" : std::string(info(result.error().code).word)},
                     std::chrono::steady_clock::now() - began);
    return result;
  }
  void count(const char* operation, std::uint64_t bytes) {
    metrics::add(metrics::kStoreBytes, {backend_, operation}, static_cast<double>(bytes));
  }
  std::shared_ptr<ObjectStore> store_;
  const std::string backend_;
};

}  // namespace

std::shared_ptr<ObjectStore> with_metrics(std::shared_ptr<ObjectStore> store, std::string backend) {
  return std::make_shared<MeteredStore>(std::move(store), std::move(backend));
}

}  // namespace dash::storage
