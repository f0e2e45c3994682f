#include "core/db/tables.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "core/crypto/hash.hpp"
#include "core/db/schema.hpp"

namespace dash::db {
namespace {

// What belongs to a process, to the schema itself, or is a number that no copy may repeat.
constexpr std::array<std::string_view, 3> kNeverCopied = {"schema_version", "commit_marks", "kept_version"};
constexpr std::size_t kRowsAtOnce = 256;
constexpr std::size_t kBytesAtOnce = 4u << 20;

bool is_copied(const std::string& table) {
  return std::ranges::find(kNeverCopied, table) == kNeverCopied.end();
}

using References = std::map<std::string, std::set<std::string>>;

// Names of our schema alone are ever put into a statement.
Result<std::set<std::string>> present_tables(Transaction& tx) {
  auto rows = TRY(tx.query(tx.is_postgres()
                               ? "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()"
                               : "SELECT name FROM sqlite_master WHERE type = 'table'"));
  std::set<std::string> found, out;
  for (const auto& row : rows) found.insert(row.text(0));
  for (const auto& name : schema_tables())
    if (found.contains(name)) out.insert(name);
  return out;
}

enum class Kind { integer, text, blob };

// By name, so that the order is the same in two databases that grew differently.
Result<std::map<std::string, Kind>> columns_of(Transaction& tx, const std::string& table) {
  auto rows = TRY(tx.query(
      tx.is_postgres() ? R"(SELECT column_name::text, upper(data_type::text) FROM information_schema.columns
                                    WHERE table_schema = current_schema() AND table_name = $1)"
                       : "SELECT name, upper(type) FROM pragma_table_info($1)",
      {table}));
  std::map<std::string, Kind> out;
  for (const auto& row : rows) {
    const auto& type = row.text(1);
    bool is_blob = type == "BLOB" || type == "BYTEA";
    out[row.text(0)] = is_blob ? Kind::blob : type == "TEXT" ? Kind::text : Kind::integer;
  }
  return out;
}

// SQLite keeps any type in any column: std::bad_variant_access where somebody else wrote it.
Value value_of(const Row& row, std::size_t i, Kind kind) {
  if (row.is_null(i)) return nullptr;
  if (kind == Kind::integer) return row.integer(i);
  if (kind == Kind::blob) return Blob{row.blob(i)};
  return row.text(i);
}

Result<Params> values_of(const Row& row, const std::vector<Kind>& kinds) {
  Params out;
  try {
    for (std::size_t i = 0; i < kinds.size(); ++i) out.push_back(value_of(row, i, kinds[i]));
  } catch (const std::bad_variant_access&) {
    return fail(Code::integrity, "a row has a value of another type than its column");
  }
  return out;
}

Result<References> references_between(Transaction& tx, const std::set<std::string>& tables) {
  References out;
  for (const auto& table : tables) {
    auto rows = TRY(tx.query(tx.is_postgres() ? R"(SELECT confrelid::regclass::text FROM pg_constraint
                                    WHERE contype = 'f' AND conrelid = to_regclass($1))"
                                              : R"(SELECT "table" FROM pragma_foreign_key_list($1))",
                             {table}));
    for (const auto& row : rows)
      if (row.text(0) != table) out[table].insert(row.text(0));
  }
  return out;
}

void add_in_order(const std::string& table, const References& references, std::vector<std::string>& out) {
  if (std::ranges::find(out, table) != out.end()) return;
  if (auto found = references.find(table); found != references.end())
    for (const auto& earlier : found->second) add_in_order(earlier, references, out);
  out.push_back(table);
}

Result<std::vector<std::string>> tables_in_order(Transaction& tx) {
  auto present = TRY(present_tables(tx));
  auto references = TRY(references_between(tx, present));
  std::vector<std::string> out;
  for (const auto& table : present) add_in_order(table, references, out);
  return out;
}

std::string column_list(const std::vector<std::string>& columns) {
  std::vector<std::string> out;
  for (const auto& column : columns) out.push_back('"' + column + '"');
  return fmt::format("{}", fmt::join(out, ", "));
}

std::size_t size_of(const Params& values) {
  std::size_t out = 0;
  for (const auto& value : values) {
    if (auto* text = std::get_if<std::string>(&value)) out += text->size();
    if (auto* blob = std::get_if<Blob>(&value)) out += blob->bytes.size();
  }
  return out;
}

}  // namespace

Result<std::vector<Table>> list_tables(Transaction& tx) {
  std::vector<Table> out;
  for (const auto& name : TRY(tables_in_order(tx)))
    if (is_copied(name)) {
      Table table{name, {}};
      for (const auto& [column, kind] : TRY(columns_of(tx, name))) table.columns.push_back(column);
      out.push_back(std::move(table));
    }
  return out;
}

Result<void> dump_tables(Transaction& tx, TableSink& sink, const std::vector<std::string>& without) {
  for (const auto& table : TRY(list_tables(tx))) {
    if (std::ranges::find(without, table.name) != without.end()) continue;
    std::vector<Kind> kinds;
    for (const auto& [column, kind] : TRY(columns_of(tx, table.name))) kinds.push_back(kind);
    auto write_row = [&](const Row& row) -> Result<void> { return sink.row(TRY(values_of(row, kinds))); };
    TRY(sink.begin(table));
    TRY(within(table.name, tx.each(fmt::format("SELECT {} FROM {}", column_list(table.columns), table.name),
                                   {}, write_row)));
    TRY(sink.end());
  }
  return {};
}

Result<void> clear_to_schema(Transaction& tx, std::int64_t version) {
  auto present = TRY(tables_in_order(tx));
  std::ranges::reverse(present);
  for (const auto& table : present)
    if (table != "commit_marks") TRY(tx.exec("DROP TABLE " + table));
  if (tx.is_postgres())
    for (const auto& name : schema_functions())
      TRY(tx.exec(fmt::format("DROP FUNCTION IF EXISTS {}()", name)));
  // It is ours as well, and commit_marks stays: it knows what became of this very transaction.
  TRY(tx.exec("DROP TABLE IF EXISTS schema_version"));
  TRY(migrate_schema_to(tx, version));
  auto made = TRY(list_tables(tx));
  std::ranges::reverse(made);
  for (const auto& table : made) TRY(tx.exec("DELETE FROM " + table.name));
  return {};
}

Result<void> TableLoader::begin(const Table& table) {
  if (known_.empty())
    for (auto& one : TRY(list_tables(tx_))) known_.emplace(one.name, one);
  auto found = known_.find(table.name);
  if (found == known_.end()) return fail(Code::integrity, "there is no table {}", table.name);
  std::vector<std::string> marks;
  for (const auto& column : table.columns) {
    if (std::ranges::find(found->second.columns, column) == found->second.columns.end())
      return fail(Code::integrity, "the table {} has no column {}", table.name, column);
    marks.push_back(fmt::format("${}", marks.size() + 1));
  }
  table_ = table.name;
  columns_ = table.columns.size();
  insert_ = fmt::format("INSERT INTO {} ({}) VALUES ({})", table.name, column_list(table.columns),
                        fmt::join(marks, ", "));
  return {};
}

Result<void> TableLoader::row(Params values) {
  if (values.size() != columns_)
    return fail(Code::integrity, "a row of {} has {} values", table_, values.size());
  pending_bytes_ += size_of(values);
  pending_.push_back({insert_, std::move(values)});
  ++rows_;
  if (pending_.size() >= kRowsAtOnce || pending_bytes_ >= kBytesAtOnce) return flush();
  return {};
}

Result<void> TableLoader::end() { return flush(); }

Result<void> TableLoader::flush() {
  TRY(within(table_, exec_many(tx_, pending_)));
  pending_.clear();
  pending_bytes_ = 0;
  return {};
}

Result<void> TableCounter::begin(const Table& table) {
  current_ = &tables_[table.name];
  return {};
}

Result<void> TableCounter::row(Params values) {
  std::string bytes;
  encode_row(values, bytes);
  auto hash = crypto::sha256(bytes);
  std::uint64_t first = 0;
  for (int i = 0; i < 8; ++i)
    first = first << 8 | static_cast<unsigned char>(hash[static_cast<std::size_t>(i)]);
  current_->sum += first;
  ++current_->rows;
  return {};
}

std::int64_t TableCounter::rows() const {
  std::int64_t out = 0;
  for (const auto& [name, table] : tables_) out += table.rows;
  return out;
}

Result<bool> has_accounts(Transaction& tx) {
  if (!TRY(present_tables(tx)).contains("users")) return false;
  return TRY(tx.query("SELECT COUNT(*) FROM users")).at(0).integer(0) > 0;
}

std::string big_endian(std::uint64_t number, int bytes) {
  std::string out;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out += static_cast<char>((number >> shift) & 0xff);
  return out;
}

void encode_row(const Params& values, std::string& out) {
  for (const auto& value : values) {
    if (auto* number = std::get_if<std::int64_t>(&value)) {
      out += 'i';
      out += big_endian(static_cast<std::uint64_t>(*number), 8);
    } else if (auto* text = std::get_if<std::string>(&value)) {
      out += 't';
      out += big_endian(text->size(), 4);
      out += *text;
    } else if (auto* blob = std::get_if<Blob>(&value)) {
      out += 'b';
      out += big_endian(blob->bytes.size(), 4);
      out += blob->bytes;
    } else {
      out += 'n';
    }
  }
}

}  // namespace dash::db
