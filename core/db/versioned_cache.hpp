// Caches, by name, what was read of the tables of schema/008_kept_version.sql, until the next commit to them.
// A read after such a commit never returns an older value. Thread-safe.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/db/sql.hpp"

namespace dash::db {

template <class T>
class VersionedCache {
 public:
  // Returns the cached value, else calls `read`, which returns the current one. Its failure is not cached.
  Result<std::shared_ptr<const T>> get(Sql& sql, const std::string& name,
                                       const std::function<Result<T>()>& read) {
    // Before the read: a commit between the two only costs another read.
    auto version = TRY(sql.data_version());
    if (auto cached = find(version, name)) return cached;
    auto value = std::make_shared<const T>(TRY(read()));
    store(version, name, value);
    return value;
  }

 private:
  using Version = std::optional<std::int64_t>;
  static constexpr std::size_t kMaxEntries = 1'024;

  std::shared_ptr<const T> find(const Version& version, const std::string& name) {
    std::lock_guard lock(mutex_);
    if (!version || version_ != version) return nullptr;
    auto found = values_.find(name);
    return found == values_.end() ? nullptr : found->second;
  }
  void store(const Version& version, const std::string& name, std::shared_ptr<const T> value) {
    if (!version) return;
    std::lock_guard lock(mutex_);
    if (version_ != version || values_.size() >= kMaxEntries) values_.clear();
    version_ = version;
    values_[name] = std::move(value);
  }

  std::mutex mutex_;
  Version version_;
  std::map<std::string, std::shared_ptr<const T>> values_;
};

}  // namespace dash::db
