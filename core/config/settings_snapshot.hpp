// Settings as they were at one moment, decrypted. Immutable, so threads may share one.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace dash::config {

using Values = std::map<std::string, std::string>;

class SettingsSnapshot {
 public:
  explicit SettingsSnapshot(Values values, std::set<std::string> unreadable = {})
      : values_(std::move(values)), unreadable_(std::move(unreadable)) {}

  const Values& values() const { return values_; }
  // Returns the stored text; empty for an absent key and for an unreadable one.
  const std::string& text(const std::string& key) const;
  // Keys whose row cannot be decrypted with this instance's key.
  const std::set<std::string>& unreadable() const { return unreadable_; }
  bool is_unreadable(const std::string& key) const { return unreadable_.contains(key); }

  // Returns the result of `decode` for these settings. It runs once for a snapshot, which stores the result.
  template <class T>
  std::shared_ptr<const T> decoded(T (*decode)(const SettingsSnapshot&)) const {
    std::lock_guard lock(mutex_);
    auto& result = results_[reinterpret_cast<Decoder>(decode)];
    if (!result) result = std::make_shared<const T>(decode(*this));
    return std::static_pointer_cast<const T>(result);
  }

 private:
  using Decoder = void (*)();
  Values values_;
  std::set<std::string> unreadable_;
  mutable std::mutex mutex_;
  mutable std::map<Decoder, std::shared_ptr<const void>> results_;  // by the function that made them
};

using SnapshotPtr = std::shared_ptr<const SettingsSnapshot>;

}  // namespace dash::config
