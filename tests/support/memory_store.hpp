// A store in memory that keeps the promises of ObjectStore, for tests of the modules above it. It counts
// calls and fails on request.
#pragma once
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "core/crypto/hash.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage {

class MemoryStore final : public ObjectStore {
 public:
  explicit MemoryStore(std::string place = "memory://bucket") : place_(std::move(place)) {}

  std::string place() const override { return place_; }

  Result<ObjectPage> list(std::string_view prefix, std::string_view cursor) override {
    std::lock_guard lock(mutex_);
    ObjectPage page;
    auto keys = listed_keys(prefix);
    auto at = std::ranges::upper_bound(keys, place_in_list(std::string(cursor)), {},
                                       [this](const auto& key) { return place_in_list(key); });
    for (; at != keys.end() && page.objects.size() < page_size; ++at)
      page.objects.push_back(describe(*at, objects_.at(*at)));
    if (at != keys.end()) page.cursor = page.objects.back().key;
    return page;
  }
  Result<Object> head(const std::string& key) override {
    std::lock_guard lock(mutex_);
    auto it = objects_.find(key);
    if (it == objects_.end()) return absent(key);
    return describe(key, it->second);
  }
  // The lock is not held while `out` takes the bytes, which may wait for another call.
  Result<std::uint64_t> read(const std::string& key, ByteRange range, std::string_view must_match,
                             RandomWriter& out) override {
    auto bytes = TRY(bytes_in(key, range, must_match));
    auto cut = cut_read_at.load();
    if (cut > range.offset && cut < range.offset + bytes.size()) {
      TRY(out.write(0, std::string_view(bytes).substr(0, static_cast<std::size_t>(cut - range.offset))));
      // Whose reader did not want those bytes has not come to the cut.
      if (cut_read_at.compare_exchange_strong(cut, 0)) return fail(Code::unreachable, "cut in the middle");
    }
    TRY(out.write(0, bytes));
    return bytes.size();
  }
  Result<Object> put(const std::string& key, const Payload& payload, const PutOptions& options) override {
    std::lock_guard lock(mutex_);
    bool is_taken = objects_.contains(key) || creation_conflicts.contains(key);
    if (options.only_if_absent && is_taken) return fail(Code::conflict, "'{}' exists", key);
    objects_[key] = {std::string(payload.bytes), options.digest};
    return describe(key, objects_[key]);
  }
  Result<void> remove(const std::string& key) override {
    std::lock_guard lock(mutex_);
    if (objects_.erase(key) == 0) return absent(key);
    return {};
  }
  Result<void> remove_unchanged(const Object& object) override {
    if (before_remove) before_remove();
    std::lock_guard lock(mutex_);
    auto it = objects_.find(object.key);
    if (it == objects_.end()) return absent(object.key);
    if (describe(it->first, it->second).etag != object.etag)
      return fail(Code::precondition, "'{}' was replaced", object.key);
    objects_.erase(it);
    return {};
  }
  Result<VersionsResult> versions(const std::string&) override { return kept; }

  Result<std::string> begin(const std::string& key, std::optional<std::uint64_t>) override {
    std::lock_guard lock(mutex_);
    auto id = "upload-" + std::to_string(++begun);
    uploads_[id] = {key, {}};
    return id;
  }
  Result<std::string> put_part(const std::string& upload, std::uint32_t n, const Payload& payload,
                               bool) override {
    std::lock_guard lock(mutex_);
    ++part_calls;
    largest_part = std::max(largest_part, payload.bytes.size());
    if (fail_next_part) {
      fail_next_part = false;
      return fail(Code::unreachable, "connection cut");
    }
    auto it = uploads_.find(upload);
    if (it == uploads_.end()) return fail(Code::not_found, "no such upload");
    it->second.parts[n] = std::string(payload.bytes);
    return crypto::to_hex(crypto::md5(payload.bytes));
  }
  Result<std::vector<StagedPart>> staged_parts(const std::string& upload) override {
    std::lock_guard lock(mutex_);
    ++staged_calls;
    auto it = uploads_.find(upload);
    if (it == uploads_.end()) return fail(Code::not_found, "no such upload");
    std::vector<StagedPart> parts;
    for (const auto& [n, bytes] : it->second.parts)
      parts.push_back({n, bytes.size(), crypto::to_hex(crypto::md5(bytes))});
    return parts;
  }
  Result<Object> commit(const std::string& upload, const std::vector<StagedPart>& parts,
                        const PutOptions& options) override {
    std::lock_guard lock(mutex_);
    auto it = uploads_.find(upload);
    if (it == uploads_.end()) return find_committed(upload);
    std::string bytes;
    for (const auto& part : parts) bytes += it->second.parts.at(part.n);
    auto key = it->second.key;
    if (options.only_if_absent && objects_.contains(key)) return fail(Code::conflict, "'{}' exists", key);
    objects_[key] = {std::move(bytes), options.digest};
    uploads_.erase(it);
    made_[upload] = describe(key, objects_[key]);
    return made_[upload];
  }
  Result<void> abort(const std::string& upload) override {
    std::lock_guard lock(mutex_);
    if (fail_abort) return fail(Code::unreachable, "connection cut");
    if (uploads_.erase(upload) == 0) return fail(Code::not_found, "no such upload");
    return {};
  }

  Result<void> check_target(const std::string& key) override {
    auto it = not_objects.find(key);
    if (it != not_objects.end()) return fail(Code::invalid, "{}", it->second);
    return {};
  }
  Result<std::vector<Leftover>> leftovers(std::string_view prefix, Time older_than) override {
    std::lock_guard lock(mutex_);
    std::vector<Leftover> found;
    for (const auto& [id, upload] : uploads_) {
      if (!upload.key.starts_with(prefix) || upload_began >= older_than) continue;
      Leftover leftover{upload.key, upload_began, 0, id};
      for (const auto& [n, bytes] : upload.parts) leftover.bytes += bytes.size();
      found.push_back(std::move(leftover));
    }
    return found;
  }
  Result<void> drop(const Leftover& leftover) override { return abort(leftover.upload); }

  std::string bytes_of(const std::string& key) {
    std::lock_guard lock(mutex_);
    return objects_.at(key).bytes;
  }
  bool has(const std::string& key) {
    std::lock_guard lock(mutex_);
    return objects_.contains(key);
  }
  std::size_t open_uploads() {
    std::lock_guard lock(mutex_);
    return uploads_.size();
  }

  std::function<void()> before_remove;  // called first in remove_unchanged()
  VersionsResult kept;                  // the result of versions(), for every key
  std::size_t page_size = 1000;
  bool lists_folders_first = false;  // not by code points, as an account with a hierarchical namespace
  std::atomic<std::uint64_t> cut_read_at = 0;  // the next read across that offset breaks off there
  // Returns the ranges that were asked for since the last call.
  std::vector<ByteRange> take_reads() {
    std::lock_guard lock(mutex_);
    return std::exchange(reads_, {});
  }
  Time upload_began;  // of every upload; 1970 by default
  int begun = 0;
  int part_calls = 0;
  int staged_calls = 0;
  std::size_t largest_part = 0;
  bool fail_next_part = false;
  bool fail_abort = false;
  std::map<std::string, std::string> not_objects;  // key → the error of check_target()
  std::set<std::string> torn_keys;                 // read back as other bytes than were written
  std::set<std::string> creation_conflicts;        // absent keys whose creation is refused

 private:
  struct StoredContent {
    std::string bytes;
    std::string digest;
  };
  struct Upload {
    std::string key;
    std::map<std::uint32_t, std::string> parts;
  };
  static Failure absent(const std::string& key) { return fail(Code::not_found, "no object '{}'", key); }
  static Object describe(const std::string& key, const StoredContent& content) {
    return {key, content.bytes.size(), crypto::to_hex(crypto::md5(content.bytes)), Time{}, content.digest};
  }
  // What keys are listed in the order of.
  std::string place_in_list(std::string key) const {
    if (lists_folders_first) std::ranges::replace(key, '/', '\1');
    return key;
  }
  // Returns the bytes of `range` that the object has.
  Result<std::string> bytes_in(const std::string& key, ByteRange range, std::string_view must_match) {
    std::lock_guard lock(mutex_);
    reads_.push_back(range);
    auto it = objects_.find(key);
    if (it == objects_.end()) return absent(key);
    if (!must_match.empty() && describe(key, it->second).etag != must_match)
      return fail(Code::precondition, "'{}' changed", key);
    auto from = std::min<std::size_t>(static_cast<std::size_t>(range.offset), it->second.bytes.size());
    auto bytes = it->second.bytes.substr(from, static_cast<std::size_t>(range.size));
    return torn_keys.contains(key) ? std::string(bytes.size(), 'T') : bytes;
  }
  std::vector<std::string> listed_keys(std::string_view prefix) const {
    std::vector<std::string> keys;
    for (const auto& [key, content] : objects_)
      if (key.starts_with(prefix)) keys.push_back(key);
    std::ranges::sort(keys, {}, [this](const auto& key) { return place_in_list(key); });
    return keys;
  }
  Result<Object> find_committed(const std::string& upload) {
    auto made = made_.find(upload);
    if (made == made_.end()) return fail(Code::not_found, "no such upload");
    auto there = objects_.find(made->second.key);
    bool is_it = there != objects_.end() && describe(there->first, there->second).etag == made->second.etag;
    if (!is_it) return fail(Code::not_found, "no such upload");
    return made->second;
  }
  std::string place_;
  std::mutex mutex_;
  std::vector<ByteRange> reads_;
  std::map<std::string, StoredContent> objects_;
  std::map<std::string, Upload> uploads_;
  std::map<std::string, Object> made_;  // by committed upload
};

}  // namespace dash::storage
