#include "core/db/schema.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/embedded.hpp"

namespace dash::db {
namespace {

constexpr std::string_view kFolder = "core/db/schema/";
constexpr std::int64_t kSchemaLock = 0x64617368;  // any number that no other program uses on this database

constexpr int kFirstWithMinimum = 33;  // the step that adds the column min_version

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

// A trigger of PostgreSQL calls a function; one of SQLite holds its statements.
bool applies_to(std::string_view statement, bool postgres) {
  auto first = std::min(statement.find("CREATE "), statement.size());
  auto text = statement.substr(first);
  if (text.starts_with("CREATE FUNCTION") || text.starts_with("CREATE OR REPLACE FUNCTION")) return postgres;
  if (text.starts_with("CREATE TRIGGER")) return postgres == (text.find("EXECUTE FUNCTION") != text.npos);
  return statement.find_first_not_of(" \n") != statement.npos;
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

// Returns the names that follow `words` in any step.
std::vector<std::string> names_after(std::string_view words) {
  std::vector<std::string> out;
  for (const auto& step : steps())
    for (auto at = step.sql.find(words); at != step.sql.npos; at = step.sql.find(words, at + 1)) {
      auto rest = step.sql.substr(at + words.size());
      if (rest.starts_with("IF NOT EXISTS ")) rest.remove_prefix(std::string_view("IF NOT EXISTS ").size());
      out.emplace_back(rest.substr(0, rest.find_first_of(" (")));
    }
  return out;
}

// Its text says so in a line of its own.
bool breaks_older_programs(const SchemaStep& step) {
  return step.sql.find("-- min_version\n") != step.sql.npos;
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
  if (breaks_older_programs(step))
    TRY(tx.exec("UPDATE schema_version SET min_version = $1", {std::int64_t{step.version}}));
  return {};
}

}  // namespace

std::vector<std::string> schema_tables() { return names_after("CREATE TABLE "); }

std::vector<std::string> schema_functions() {
  auto out = names_after("CREATE FUNCTION ");
  for (auto& name : names_after("CREATE OR REPLACE FUNCTION ")) out.push_back(std::move(name));
  return out;
}

int newest_schema() { return steps().back().version; }

Result<SchemaVersions> schema_versions(Transaction& tx) {
  auto rows = TRY(tx.query("SELECT version FROM schema_version"));
  SchemaVersions out{rows.empty() ? 0 : rows[0].integer(0), newest_schema()};
  if (out.present >= kFirstWithMinimum)
    out.minimum = TRY(tx.query("SELECT min_version FROM schema_version")).at(0).integer(0);
  return out;
}

Result<SchemaVersions> schema_versions(Sql& sql) {
  return read<SchemaVersions>(sql, [](Transaction& tx) { return schema_versions(tx); });
}

Result<void> check_schema(const SchemaVersions& versions) {
  if (versions.present <= versions.newest || (versions.minimum > 0 && versions.minimum <= versions.newest))
    return {};
  return fail(
      Code::conflict,
      "the database has schema {}, newer than this program knows ({}), and needs one that knows schema {}; "
      "use a newer dashctl",
      versions.present, versions.newest, versions.minimum > 0 ? versions.minimum : versions.present);
}

Result<void> migrate_schema_to(Transaction& tx, std::int64_t version) {
  TRY(tx.exec("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)"));
  if (TRY(tx.query("SELECT version FROM schema_version")).empty())
    TRY(tx.exec("INSERT INTO schema_version (version) VALUES (0)"));
  auto versions = TRY(schema_versions(tx));
  TRY(check_schema(versions));
  for (const auto& step : steps())
    if (step.version > versions.present && step.version <= version) TRY(apply(tx, step));
  return {};
}

Result<void> migrate_schema_to(Sql& sql, int version) {
  return sql.write([&](Transaction& tx) -> Result<void> {
    // A step may rewrite a large table, which takes longer than a statement of a request may.
    if (tx.is_postgres()) {
      TRY(tx.exec("SET LOCAL statement_timeout TO 0"));
      TRY(tx.query("SELECT pg_advisory_xact_lock($1)", {kSchemaLock}));
    }
    return migrate_schema_to(tx, version);
  });
}

// A current database is not written to: one that takes no writes can still be read.
Result<void> migrate_schema(Sql& sql) {
  auto versions = schema_versions(sql);
  if (versions && versions->present >= versions->newest) return check_schema(*versions);
  return migrate_schema_to(sql, newest_schema());
}

}  // namespace dash::db
