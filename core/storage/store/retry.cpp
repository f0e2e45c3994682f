#include "core/storage/store/retry.hpp"

#include "core/storage/store/resumed_read.hpp"

namespace dash::storage {
namespace {

class RetryingStore final : public ObjectStore {
 public:
  RetryingStore(std::shared_ptr<ObjectStore> store, net::Retry retry)
      : store_(std::move(store)), retry_(std::move(retry)) {}

  Capabilities capabilities() const override { return store_->capabilities(); }
  std::string place() const override { return store_->place(); }

  // Reading changes nothing.
  Result<ObjectPage> list(std::string_view prefix, std::string_view cursor) override {
    return retry_.run([&](int) { return store_->list(prefix, cursor); });
  }
  Result<void> forget_listing() override { return store_->forget_listing(); }
  Result<Object> head(const std::string& key) override {
    return retry_.run([&](int) { return store_->head(key); });
  }
  Result<std::uint64_t> read(const std::string& key, ByteRange range, std::string_view must_match,
                             RandomWriter& out) override {
    auto read = [&](ByteRange rest, RandomWriter& to) { return store_->read(key, rest, must_match, to); };
    // Without an etag the rest may be of other content.
    if (must_match.empty()) return retry_.run([&](int) { return read(range, out); });
    return read_resumed(retry_, range, out, read);
  }

  Result<OpenResult> open(const std::string& key, std::span<char> out) override {
    return retry_.run([&](int) { return store_->open(key, out); });
  }

  // A replacement may be repeated. A creation may not: after a lost answer, the conflict would be our own.
  Result<Object> put(const std::string& key, const Payload& payload, const PutOptions& options) override {
    if (options.only_if_absent) return about_bucket(store_->put(key, payload, options));
    return about_bucket(retry_.run([&](int) { return store_->put(key, payload, options); }));
  }

  // Absent at the second attempt means that the first one, whose answer was lost, removed it.
  Result<void> remove(const std::string& key) override {
    return retry_.run([&](int attempt) { return ignore_not_found(attempt, store_->remove(key)); });
  }
  Result<void> abort(const std::string& upload) override {
    return retry_.run([&](int attempt) { return ignore_not_found(attempt, store_->abort(upload)); });
  }

  // A lost answer leaves an upload without an owner; leftovers() lists it.
  Result<std::string> begin(const std::string& key, std::optional<std::uint64_t> size) override {
    return about_bucket(retry_.run([&](int) { return store_->begin(key, size); }));
  }
  Result<std::string> begin_at_once(const std::string& key, std::uint64_t size) override {
    return about_bucket(retry_.run([&](int) { return store_->begin_at_once(key, size); }));
  }
  // The same part again replaces.
  Result<std::string> put_part(const std::string& upload, std::uint32_t n, const Payload& payload,
                               bool is_last) override {
    return retry_.run([&](int) { return store_->put_part(upload, n, payload, is_last); });
  }
  Result<std::vector<StagedPart>> staged_parts(const std::string& upload) override {
    return retry_.run([&](int) { return store_->staged_parts(upload); });
  }
  // ObjectStore promises that a commit with a lost answer may be repeated.
  Result<Object> commit(const std::string& upload, const std::vector<StagedPart>& parts,
                        const PutOptions& options) override {
    return retry_.run([&](int) { return store_->commit(upload, parts, options); });
  }

  Result<void> check_target(const std::string& key) override {
    return retry_.run([&](int) { return store_->check_target(key); });
  }
  Result<std::vector<Leftover>> leftovers(std::string_view prefix, Time older_than) override {
    return retry_.run([&](int) { return store_->leftovers(prefix, older_than); });
  }
  Result<void> drop(const Leftover& leftover) override {
    return retry_.run([&](int attempt) { return ignore_not_found(attempt, store_->drop(leftover)); });
  }
  Result<std::optional<std::string>> find_lease(const std::string& key) override {
    return retry_.run([&](int) { return store_->find_lease(key); });
  }
  Result<void> take_lease(const std::string& key, const std::string& id, const std::string& note) override {
    return store_->take_lease(key, id, note);
  }
  Result<void> release_lease(const std::string& key, const std::string& id) override {
    return store_->release_lease(key, id);
  }
  Result<VersionsResult> versions(const std::string& key) override {
    return retry_.run([&](int) { return store_->versions(key); });
  }
  Result<void> remove_unchanged(const Object& object) override {
    return retry_.run(
        [&](int attempt) { return ignore_not_found(attempt, store_->remove_unchanged(object)); });
  }
  Result<Object> copy_inside(const InsideCopy& copy) override {
    return retry_.run([&](int) { return store_->copy_inside(copy); });
  }

 private:
  // What a new object does not find is the bucket, or the store itself.
  template <class T>
  static Result<T> about_bucket(Result<T> result) {
    if (result || result.error().code != Code::not_found) return result;
    auto error = std::move(result).error();
    error.code = Code::upstream;
    return Failure(std::move(error));
  }
  static Result<void> ignore_not_found(int attempt, Result<void> result) {
    if (!result && attempt > 0 && result.error().code == Code::not_found) return {};
    return result;
  }
  std::shared_ptr<ObjectStore> store_;
  net::Retry retry_;
};

}  // namespace

std::shared_ptr<ObjectStore> with_retry(std::shared_ptr<ObjectStore> store, net::Retry retry) {
  return std::make_shared<RetryingStore>(std::move(store), std::move(retry));
}

}  // namespace dash::storage
