#include "core/config/encrypted_store.hpp"

#include <algorithm>
#include <future>
#include <tuple>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/aead.hpp"
#include "core/crypto/hash.hpp"
#include "core/db/each_of.hpp"

namespace dash::config {
namespace {

// Of one statement: each moves the version that caches are kept by (008_kept_version.sql), and a row that a
// transaction changes again and again grows slow in PostgreSQL.
constexpr std::size_t kRowsAtOnce = 200;

constexpr std::string_view kWriteRows =
    R"(INSERT INTO config (key, value, updated_at)
       VALUES {}
       ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at)";
constexpr std::string_view kRemoveRows = "DELETE FROM config WHERE key IN {}";
constexpr std::string_view kWriteHistory =
    R"(INSERT INTO config_history (seq, change_id, key, old_value, new_value, changed_at, changed_by, origin)
       VALUES {})";

// "($1, $2), ($3, $4)" for two rows of two columns.
std::string placeholders(std::size_t rows, std::size_t columns) {
  std::vector<std::string> out;
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<std::string> places;
    for (std::size_t n = 1; n <= columns; ++n) places.push_back(fmt::format("${}", row * columns + n));
    out.push_back(fmt::format("({})", fmt::join(places, ", ")));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

// Rows of one change, written some hundred at a time.
class RowWriter {
 public:
  explicit RowWriter(db::Transaction& tx) : tx_(tx) {}

  void write(const std::string& key, const std::string& sealed, std::int64_t now) {
    append(written_, {key, db::Blob{sealed}, now});
  }
  void remove(const std::string& key) { append(removed_, {key}); }
  // A row of config_history. Writes what is there when that is enough.
  Result<void> record(db::Params columns) {
    append(history_, std::move(columns));
    return history_.size() / kHistoryColumns < kRowsAtOnce ? Result<void>() : flush();
  }
  Result<void> flush() {
    TRY(run(kWriteRows, written_.size() / kRowColumns, kRowColumns, written_));
    TRY(run(kRemoveRows, 1, removed_.size(), removed_));
    return run(kWriteHistory, history_.size() / kHistoryColumns, kHistoryColumns, history_);
  }

 private:
  static constexpr std::size_t kRowColumns = 3, kHistoryColumns = 8;
  static void append(db::Params& to, db::Params columns) {
    std::ranges::move(columns, std::back_inserter(to));
  }
  // Nearly every statement of a large change has the text of the one before it.
  Result<void> run(std::string_view sql, std::size_t rows, std::size_t columns, db::Params& params) {
    if (params.empty()) return {};
    auto& text = texts_[{sql.data(), rows, columns}];
    if (text.empty()) text = fmt::format(fmt::runtime(sql), placeholders(rows, columns));
    TRY(tx_.exec(text, std::exchange(params, {})));
    return {};
  }
  db::Transaction& tx_;
  std::map<std::tuple<const char*, std::size_t, std::size_t>, std::string> texts_;
  db::Params written_, removed_, history_;
};

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

// The rows of `changes` that exist, by key.
Result<std::map<std::string, std::string>> rows_of(db::Transaction& tx, const Changes& changes) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : changes) keys.push_back(key);
  std::map<std::string, std::string> out;
  TRY(db::each_of(tx, "SELECT key, value FROM config WHERE key IN ({0})", {}, keys,
                  [&](const db::Row& row) -> Result<void> {
                    out.emplace(row.text(0), row.blob(1));
                    return {};
                  }));
  return out;
}

// What a change does to its row.
struct SealedChange {
  std::string key;
  std::optional<std::string> before, after;
};
using SealedChanges = std::vector<SealedChange>;

// Of one piece of a change; the next one is sealed while this one is written.
constexpr std::size_t kSealedAtOnce = 2000;

// A row that cannot be opened is written again: the new text must be readable under this instance's key.
bool is_change(const EncryptedStore& store, const std::string& key, const std::optional<std::string>& before,
               const std::optional<std::string>& value) {
  if (!before || !value) return before.has_value() != value.has_value();
  auto plain = store.open(key, *before);
  return !plain || *plain != *value;
}

// Seals the next piece of a change, from `at` on, and moves `at`. Takes the old rows out of `rows`.
SealedChanges seal_piece(const EncryptedStore& store, Changes::const_iterator& at, const Changes& changes,
                         std::map<std::string, std::string>& rows) {
  SealedChanges out;
  for (std::size_t n = 0; n < kSealedAtOnce && at != changes.end(); ++n, ++at) {
    const auto& [key, value] = *at;
    auto row = rows.find(key);
    auto before = row == rows.end() ? std::nullopt : std::optional(std::move(row->second));
    if (!is_change(store, key, before, value)) continue;
    out.push_back({key, std::move(before), value ? std::optional(store.seal(key, *value)) : std::nullopt});
  }
  return out;
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
    out.insert_or_assign(out.end(), row.text(0), read_row(row.text(0), row.blob(1)));
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
  for (const auto& [key, value] : changes) TRY(check_key(key));
  auto change_id = crypto::uuid4();
  auto now = to_micros(clock_.now());
  auto seq = TRY(next_history_seq(tx));
  auto rows = TRY(rows_of(tx, changes));
  RowWriter writer(tx);
  bool changed = false;
  auto at = changes.begin();
  auto piece = seal_piece(*this, at, changes, rows);
  while (true) {
    std::future<SealedChanges> next;
    if (at != changes.end()) next = std::async([&] { return seal_piece(*this, at, changes, rows); });
    for (const auto& [key, before, after] : piece) {
      if (after)
        writer.write(key, *after, now);
      else
        writer.remove(key);
      TRY(writer.record({seq++, change_id, key, blob_or_null(before), blob_or_null(after), now,
                         author.username, author.origin}));
      changed = true;
    }
    if (!next.valid()) break;
    piece = next.get();
  }
  TRY(writer.flush());
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
