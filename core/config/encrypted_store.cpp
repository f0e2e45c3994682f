#include "core/config/encrypted_store.hpp"

#include <algorithm>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/aead.hpp"
#include "core/crypto/hash.hpp"

namespace dash::config {
namespace {

Result<void> check_key(const std::string& key) {
  if (is_key(key)) return {};
  return fail(Code::invalid,
              "a configuration key has 1 to {} bytes of UTF-8, is not blank and has no control characters",
              kMaxKeyBytes);
}

db::Value blob_or_null(const std::optional<std::string>& bytes) {
  if (!bytes) return nullptr;
  return db::Blob{*bytes};
}

Result<std::optional<std::string>> sealed_row(db::Transaction& tx, const std::string& key) {
  auto rows = TRY(tx.query("SELECT value FROM config WHERE key = $1", {key}));
  if (rows.empty()) return std::optional<std::string>();
  return std::optional<std::string>(rows[0].blob(0));
}

Result<std::int64_t> next_history_seq(db::Transaction& tx) {
  return TRY(tx.query("SELECT COALESCE(MAX(seq), 0) + 1 FROM config_history"))[0].integer(0);
}

HistoryEntry entry_from_row(const db::Row& row) {
  return {row.integer(0), row.text(1), row.text(2), row.flag(3), row.flag(4), from_micros(row.integer(5)),
          row.text(6),    row.text(7)};
}

}  // namespace

bool is_key(std::string_view text) {
  return !trim(text).empty() && text.size() <= kMaxKeyBytes && is_utf8(text) && !has_control_character(text);
}

Secret derive_store_key(const Secret& signing_key, const Secret& encryption_key) {
  const auto& source = encryption_key.empty() ? signing_key : encryption_key;
  return Secret(crypto::hkdf_sha256(source.expose(), "", "dashctl config store v1", 32));
}

EncryptedStore::EncryptedStore(db::Sql& sql, const Clock& clock, Secret key)
    : sql_(sql), clock_(clock), key_(std::move(key)) {}

std::string EncryptedStore::seal(std::string_view name, std::string_view plain) const {
  return plain.empty() ? std::string() : crypto::seal(key_, plain, name);
}

Result<std::string> EncryptedStore::open(std::string_view name, std::string_view sealed) const {
  if (sealed.empty()) return std::string();
  return crypto::open(key_, sealed, name);
}

std::optional<std::string> EncryptedStore::open_row(const std::string& key, const std::string& sealed) {
  auto plain = open(key, sealed);
  if (plain) return *std::move(plain);
  std::lock_guard lock(reported_mutex_);
  if (reported_.insert(key).second)
    log::error(
        "config.unreadable",
        {{"key", key},
         {"message", "this row was written with another key; it reads as empty until it is set again"}});
  return std::nullopt;
}

std::string EncryptedStore::read_row(const std::string& key, const std::string& sealed) {
  return open_row(key, sealed).value_or("");
}

Result<EncryptedStore::SealedRows> EncryptedStore::read_sealed(std::span<const std::string_view> keys) {
  std::string sql = "SELECT key, value FROM config";
  if (!keys.empty()) sql += fmt::format(" WHERE key IN ('{}')", fmt::join(keys, "', '"));
  return db::read<SealedRows>(sql_, [&](db::Transaction& tx) -> Result<SealedRows> {
    SealedRows out;
    TRY(tx.each(sql, {}, [&](const db::Row& row) -> Result<void> {
      out.emplace(row.text(0), row.blob(1));
      return {};
    }));
    return out;
  });
}

SnapshotPtr EncryptedStore::open_rows(const SealedRows& rows) {
  Values values;
  std::set<std::string> unreadable;
  for (const auto& [key, sealed] : rows) {
    auto plain = open_row(key, sealed);
    if (!plain) unreadable.insert(key);
    values[key] = std::move(plain).value_or("");
  }
  return std::make_shared<const SettingsSnapshot>(std::move(values), std::move(unreadable));
}

Result<std::optional<std::string>> EncryptedStore::get(const std::string& key) {
  return db::read<std::optional<std::string>>(sql_, [&](db::Transaction& tx) { return get(tx, key); });
}

Result<std::optional<std::string>> EncryptedStore::get(db::Transaction& tx, const std::string& key) {
  auto sealed = TRY(sealed_row(tx, key));
  if (!sealed) return std::optional<std::string>();
  return std::optional<std::string>(read_row(key, *sealed));
}

Result<Values> EncryptedStore::all() {
  return db::read<Values>(sql_, [&](db::Transaction& tx) { return all(tx); });
}

Result<Values> EncryptedStore::all(db::Transaction& tx) {
  Values out;
  TRY(tx.each("SELECT key, value FROM config", {}, [&](const db::Row& row) -> Result<void> {
    out[row.text(0)] = read_row(row.text(0), row.blob(1));
    return {};
  }));
  return out;
}

Result<std::set<std::string>> EncryptedStore::keys() {
  return db::read<std::set<std::string>>(sql_, [&](db::Transaction& tx) -> Result<std::set<std::string>> {
    std::set<std::string> out;
    for (const auto& row : TRY(tx.query("SELECT key FROM config"))) out.insert(row.text(0));
    return out;
  });
}

Result<std::set<std::string>> EncryptedStore::unreadable_keys() {
  return db::read<std::set<std::string>>(sql_, [&](db::Transaction& tx) -> Result<std::set<std::string>> {
    std::set<std::string> out;
    TRY(tx.each("SELECT key, value FROM config", {}, [&](const db::Row& row) -> Result<void> {
      if (!open(row.text(0), row.blob(1))) out.insert(row.text(0));
      return {};
    }));
    return out;
  });
}

Result<std::string> EncryptedStore::apply(const Changes& changes, const Author& author) {
  return db::write<std::string>(sql_, [&](db::Transaction& tx) { return apply(tx, changes, author); });
}

Result<std::string> EncryptedStore::apply(db::Transaction& tx, const Changes& changes, const Author& author) {
  auto change_id = crypto::uuid4();
  auto now = to_micros(clock_.now());
  auto seq = TRY(next_history_seq(tx));
  bool changed = false;
  for (const auto& [key, value] : changes) {
    TRY(check_key(key));
    auto before = TRY(sealed_row(tx, key));
    if (!before && !value) continue;
    // Written again when it cannot be opened: the new text must be readable under this instance's key.
    if (before && value) {
      auto plain = open(key, *before);
      if (plain && *plain == *value) continue;
    }
    std::optional<std::string> after;
    if (value) after = seal(key, *value);
    if (after)
      TRY(tx.exec(R"(INSERT INTO config (key, value, updated_at)
                     VALUES ($1, $2, $3)
                     ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at)",
                  {key, db::Blob{*after}, now}));
    else
      TRY(tx.exec("DELETE FROM config WHERE key = $1", {key}));
    TRY(tx.exec(R"(INSERT INTO config_history
                     (seq, change_id, key, old_value, new_value, changed_at, changed_by, origin)
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8))",
                {seq++, change_id, key, blob_or_null(before), blob_or_null(after), now, author.username,
                 author.origin}));
    changed = true;
  }
  return changed ? change_id : std::string();
}

Result<std::vector<HistoryEntry>> EncryptedStore::history(const std::string& key, std::int64_t before_seq,
                                                          std::int64_t limit) {
  constexpr std::string_view kSelect =
      R"(SELECT seq, change_id, key,
           CASE WHEN old_value IS NULL THEN 0 ELSE 1 END,
           CASE WHEN new_value IS NULL THEN 0 ELSE 1 END,
           changed_at, changed_by, origin
         FROM config_history
         WHERE ($1 = '' OR key = $1) AND ($2 = 0 OR seq < $2)
         ORDER BY seq DESC LIMIT $3)";
  using Entries = std::vector<HistoryEntry>;
  return db::read<Entries>(sql_, [&](db::Transaction& tx) -> Result<Entries> {
    Entries out;
    for (const auto& row : TRY(tx.query(kSelect, {key, before_seq, limit})))
      out.push_back(entry_from_row(row));
    return out;
  });
}

Result<Changes> EncryptedStore::undo_of(db::Transaction& tx, const std::string& change_id) {
  auto rows =
      TRY(tx.query("SELECT seq, key, old_value FROM config_history WHERE change_id = $1", {change_id}));
  if (rows.empty())
    return fail(Code::not_found, "there is no change '{}'; `dashctl config history` lists them", change_id);
  Changes undo;
  std::string moved;
  for (const auto& row : rows) {
    const auto& key = row.text(1);
    auto later = TRY(
        tx.query("SELECT 1 FROM config_history WHERE key = $1 AND seq > $2 LIMIT 1", {key, row.integer(0)}));
    if (!later.empty()) moved += (moved.empty() ? "" : ", ") + key;
    undo[key] = std::nullopt;
    if (!row.is_null(2)) undo[key] = TRY(open(key, row.blob(2)));
  }
  if (!moved.empty())
    return fail(Code::drift, "these keys changed again after change {}: {}; nothing was undone", change_id,
                moved);
  return undo;
}

}  // namespace dash::config
