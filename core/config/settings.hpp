// Typed, live reads of the configuration: a change is effective at once in every process. Thread-safe.
#pragma once
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/encrypted_store.hpp"

namespace dash::config {

// Keys that one reader needs together, under a name that no other group has. Without keys: all settings.
struct KeyGroup {
  std::string_view name;
  std::span<const std::string_view> keys;
};

inline constexpr KeyGroup kAllSettings{"all", {}};

class Settings {
 public:
  explicit Settings(EncryptedStore& store) : store_(store) {}

  // Returns the settings of the group after all commits so far. The same object is returned until one of
  // their rows changes. Until a commit to a table of schema/008_kept_version.sql a call reads one number.
  Result<SnapshotPtr> snapshot(const KeyGroup& group);

  // Each of these reads one row. text() returns the stored text, or `fallback` when it is absent or empty.
  Result<std::string> text(const std::string& key, std::string_view fallback = "");
  // Reads a switch: trimmed, any case: 1 true yes on / 0 false no off; empty or absent: fallback. Anything
  // else is Code::invalid, naming the key.
  Result<bool> flag(const std::string& key, bool fallback);
  // Within the limits of the key (number_limits.hpp). Code::invalid for what is no whole number.
  Result<std::int64_t> integer(const std::string& key, std::int64_t fallback);

 private:
  struct CachedSnapshot {
    std::optional<std::int64_t> version;  // of the database, read before the rows
    EncryptedStore::SealedRows rows;
    SnapshotPtr snapshot;
  };
  EncryptedStore& store_;
  std::mutex mutex_;
  std::map<std::string_view, CachedSnapshot> snapshots_;  // by group
};

// Reads comma-separated text or a JSON array of strings; trimmed, blanks dropped, order preserved.
// Code::invalid for text that starts like JSON and is not an array of strings: never silently empty.
Result<std::vector<std::string>> parse_list(std::string_view key, std::string_view text);
Result<bool> parse_flag(std::string_view key, std::string_view text, bool fallback);

}  // namespace dash::config
