#include "core/db/schema.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/embedded.hpp"

namespace dash::db {
namespace {

constexpr std::string_view kFolder = "core/db/schema/";
constexpr std::int64_t kSchemaLock = 0x64617368;  // any number that no other program uses on this database

struct SchemaStep {
  int version;
  std::string_view sql;
};

std::vector<SchemaStep> steps() {
  std::vector<SchemaStep> out;
  for (const auto& file : embedded_files()) {
    std::string_view path = file.path;
    if (!path.starts_with(kFolder)) continue;
    path.remove_prefix(kFolder.size());
    int version = 0;
    std::from_chars(path.data(), path.data() + path.size(), version);
    out.push_back({version, file.bytes()});
  }
  std::ranges::sort(out, {}, &SchemaStep::version);
  return out;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Triggers are SQLite's; PostgreSQL is queried each time (Sql::data_version).
bool applies_to(std::string_view statement, bool postgres) {
  auto first = statement.find_first_not_of(" \n");
  return first != statement.npos && !(postgres && statement.substr(first).starts_with("CREATE TRIGGER"));
}

// The only words in which the engines' table texts differ. SQLite walks a table in key order without an index
// only when the key is spelled INTEGER (64 bits there).
std::string for_engine(std::string_view sql, bool postgres) {
  std::string out(sql);
  if (postgres)
    replace_all(out, " BLOB", " BYTEA");
  else
    replace_all(out, " BIGINT PRIMARY KEY", " INTEGER PRIMARY KEY");
  return out;
}

Result<void> apply(Transaction& tx, const SchemaStep& step) {
  auto text = for_engine(step.sql, tx.is_postgres());
  std::string_view rest = text;
  while (!rest.empty()) {
    auto end = rest.find(";\n");
    auto statement = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 2);
    if (applies_to(statement, tx.is_postgres())) TRY(tx.exec(statement));
  }
  TRY(tx.exec("UPDATE schema_version SET version = $1", {std::int64_t{step.version}}));
  return {};
}

}  // namespace

Result<void> migrate_schema_to(Sql& sql, int version) {
  return sql.write([&](Transaction& tx) -> Result<void> {
    if (tx.is_postgres()) TRY(tx.query("SELECT pg_advisory_xact_lock($1)", {kSchemaLock}));
    TRY(tx.exec("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)"));
    auto rows = TRY(tx.query("SELECT version FROM schema_version"));
    if (rows.empty()) TRY(tx.exec("INSERT INTO schema_version (version) VALUES (0)"));
    auto current = rows.empty() ? 0 : rows[0].integer(0);
    auto all = steps();
    if (current > all.back().version)
      return fail(Code::conflict,
                  "the database has schema {}, newer than this program knows ({}); use a newer dashctl",
                  current, all.back().version);
    for (const auto& step : all)
      if (step.version > current && step.version <= version) TRY(apply(tx, step));
    return {};
  });
}

Result<SchemaVersions> schema_versions(Sql& sql) {
  return read<SchemaVersions>(sql, [](Transaction& tx) -> Result<SchemaVersions> {
    auto rows = TRY(tx.query("SELECT version FROM schema_version"));
    return SchemaVersions{rows.empty() ? 0 : rows[0].integer(0), steps().back().version};
  });
}

// A current database is not written to: one that takes no writes can still be read.
Result<void> migrate_schema(Sql& sql) {
  auto versions = schema_versions(sql);
  if (versions && versions->present == versions->newest) return {};
  return migrate_schema_to(sql, steps().back().version);
}

}  // namespace dash::db
