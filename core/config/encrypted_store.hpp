// The encrypted configuration: key → text. Values are sealed with AES-256-GCM under a key that is derived
// from the instance's signing key (or its dedicated encryption key), bound to the key's name. Keys are
// canonical (core/config/clouds.hpp). An unreadable row reads as empty, writes one error log line per key and
// process, and is never taken for an absent one. Every write goes through apply() and leaves history, so a
// change can be rolled back whole. Thread-safe.
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/secret.hpp"
#include "core/config/settings_snapshot.hpp"
#include "core/db/sql.hpp"

namespace dash::config {

// The column of the deployed dashboards has this limit; a longer key could not be migrated to one.
inline constexpr std::size_t kMaxKeyBytes = 128;
// Checks the name of a setting: 1 to 128 bytes of UTF-8, not blank, without control characters.
bool is_key(std::string_view text);

// nullopt removes the key.
using Changes = std::map<std::string, std::optional<std::string>>;

// The author of a change and its origin, for the history.
struct Author {
  std::string username;
  std::string origin;  // "import", "cli", "api", "rollback", …
};

struct HistoryEntry {
  std::int64_t seq = 0;
  std::string change_id;
  std::string key;
  bool had_value = false;  // there was one before
  bool has_value = false;  // there is one after
  Time changed_at;
  std::string changed_by;
  std::string origin;
};

class EncryptedStore {
 public:
  // `key` has 32 bytes, see derive_store_key().
  EncryptedStore(db::Sql& sql, const Clock& clock, Secret key);

  // Returns empty text for an unreadable row, nullopt for an absent one.
  Result<std::optional<std::string>> get(const std::string& key);
  Result<Values> all();
  Result<std::set<std::string>> keys();
  // Returns the keys whose row cannot be opened with this instance's key.
  Result<std::set<std::string>> unreadable_keys();

  // The same inside of a transaction.
  Result<std::optional<std::string>> get(db::Transaction& tx, const std::string& key);
  Result<Values> all(db::Transaction& tx);

  // Writes the differences, with history under one new change id. Returns that id; empty when nothing
  // differed. Code::invalid for an empty or over-long key or one with control characters.
  Result<std::string> apply(db::Transaction& tx, const Changes& changes, const Author& author);
  Result<std::string> apply(const Changes& changes, const Author& author);

  // Returns entries, newest first. With `key` empty: of all keys.
  Result<std::vector<HistoryEntry>> history(const std::string& key, std::int64_t before_seq,
                                            std::int64_t limit);
  // Returns the values that the keys of a change had before it, secrets included (nullopt: absent then).
  // Code::not_found for an unknown change. Code::drift names the keys that changed again since.
  Result<Changes> undo_of(db::Transaction& tx, const std::string& change_id);

  // Seals other rows at rest (webhook URLs, SMB passwords) under the same key; `name` binds the place.
  std::string seal(std::string_view name, std::string_view plain) const;
  Result<std::string> open(std::string_view name, std::string_view sealed) const;

 private:
  friend class Settings;  // compares sealed rows, so that ciphertext stays in this module
  using SealedRows = std::map<std::string, std::string>;
  // Returns the rows of the keys that exist; all rows when `keys` is empty. Keys are letters, digits and
  // underscores.
  Result<SealedRows> read_sealed(std::span<const std::string_view> keys);
  SnapshotPtr open_rows(const SealedRows& rows);

  // Returns nullopt for an unreadable row.
  std::optional<std::string> open_row(const std::string& key, const std::string& sealed);
  std::string read_row(const std::string& key, const std::string& sealed);
  db::Sql& sql_;
  const Clock& clock_;
  Secret key_;
  std::mutex reported_mutex_;
  std::set<std::string> reported_;  // keys whose error line was written
};

// Returns HKDF-SHA256 of the dedicated encryption key when one is set, else of the signing key.
Secret derive_store_key(const Secret& signing_key, const Secret& encryption_key);

}  // namespace dash::config
