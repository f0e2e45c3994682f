// A store that fails at the call that a test names: before it reaches the real store (a lost request) or
// after (a lost response). A test runs a flow for call 1, 2, … until it passes untouched, and so sees every
// place where it can break.
#pragma once
#include <atomic>
#include <memory>

#include "core/storage/store/store.hpp"

namespace dash::storage {

enum class Fault { before, after };

class FaultyStore final : public ObjectStore {
 public:
  explicit FaultyStore(std::shared_ptr<ObjectStore> store) : store_(std::move(store)) {}

  void fail_call(int number, Fault fault, Code code = Code::unreachable) {
    number_ = number;
    fault_ = fault;
    code_ = code;
  }
  void fail_every_call(Code code = Code::unreachable) { fail_call(kEvery, Fault::before, code); }
  int calls() const { return calls_; }

  Capabilities capabilities() const override { return store_->capabilities(); }
  std::string place() const override { return store_->place(); }
  Result<ObjectPage> list(std::string_view prefix, std::string_view cursor) override {
    return through([&] { return store_->list(prefix, cursor); });
  }
  Result<void> forget_listing() override {
    return through([&] { return store_->forget_listing(); });
  }
  Result<Object> head(const std::string& key) override {
    return through([&] { return store_->head(key); });
  }
  Result<std::uint64_t> read(const std::string& key, ByteRange range, std::string_view must_match,
                             RandomWriter& out) override {
    return through([&] { return store_->read(key, range, must_match, out); });
  }
  Result<OpenResult> open(const std::string& key, std::span<char> out) override {
    return through([&] { return store_->open(key, out); });
  }
  Result<Object> put(const std::string& key, const Payload& payload, const PutOptions& options) override {
    return through([&] { return store_->put(key, payload, options); });
  }
  Result<void> remove(const std::string& key) override {
    return through([&] { return store_->remove(key); });
  }
  Result<std::string> begin(const std::string& key, std::optional<std::uint64_t> size) override {
    return through([&] { return store_->begin(key, size); });
  }
  Result<std::string> begin_at_once(const std::string& key, std::uint64_t size) override {
    return through([&] { return store_->begin_at_once(key, size); });
  }
  Result<std::string> put_part(const std::string& upload, std::uint32_t n, const Payload& payload,
                               bool is_last) override {
    return through([&] { return store_->put_part(upload, n, payload, is_last); });
  }
  Result<std::vector<StagedPart>> staged_parts(const std::string& upload) override {
    return through([&] { return store_->staged_parts(upload); });
  }
  Result<Object> commit(const std::string& upload, const std::vector<StagedPart>& parts,
                        const PutOptions& options) override {
    return through([&] { return store_->commit(upload, parts, options); });
  }
  Result<void> abort(const std::string& upload) override {
    return through([&] { return store_->abort(upload); });
  }
  Result<std::vector<Leftover>> leftovers(std::string_view prefix, Time older_than) override {
    return through([&] { return store_->leftovers(prefix, older_than); });
  }
  Result<void> drop(const Leftover& leftover) override {
    return through([&] { return store_->drop(leftover); });
  }
  Result<std::optional<std::string>> find_lease(const std::string& key) override {
    return through([&] { return store_->find_lease(key); });
  }
  Result<void> take_lease(const std::string& key, const std::string& id, const std::string& note) override {
    return through([&] { return store_->take_lease(key, id, note); });
  }
  Result<void> release_lease(const std::string& key, const std::string& id) override {
    return through([&] { return store_->release_lease(key, id); });
  }
  Result<VersionsResult> versions(const std::string& key) override {
    return through([&] { return store_->versions(key); });
  }
  Result<void> remove_unchanged(const Object& object) override {
    return through([&] { return store_->remove_unchanged(object); });
  }
  Result<Object> copy_inside(const InsideCopy& copy) override {
    return through([&] { return store_->copy_inside(copy); });
  }

 private:
  template <class Call>
  auto through(Call call) -> decltype(call()) {
    bool is_named = ++calls_ == number_ || number_ == kEvery;
    if (is_named && fault_ == Fault::before) return fail(code_, "the request was lost");
    auto result = call();
    if (is_named) return fail(code_, "the answer was lost");
    return result;
  }
  std::shared_ptr<ObjectStore> store_;
  std::atomic<int> calls_ = 0;
  static constexpr int kEvery = -1;
  int number_ = 0;
  Fault fault_ = Fault::before;
  Code code_ = Code::unreachable;
};

}  // namespace dash::storage
