// Check and copy.
#include <filesystem>

#include "core/app/database.hpp"
#include "core/app/database_target.hpp"
#include "core/audit/verify.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/db/schema.hpp"
#include "core/db/tables.hpp"

namespace dash::app {
namespace {

std::map<std::string, std::int64_t> row_counts(const db::TableCounter& counter) {
  std::map<std::string, std::int64_t> out;
  for (const auto& [name, table] : counter.tables()) out[name] = table.rows;
  return out;
}

// SQLite's own checks; PostgreSQL keeps its references itself.
Result<void> check_structure(db::Transaction& tx, std::vector<std::string>& problems) {
  if (tx.is_postgres()) return {};
  for (const auto& row : TRY(tx.query("PRAGMA integrity_check(20)")))
    if (row.text(0) != "ok") problems.push_back("the file is damaged: " + row.text(0));
  for (const auto& row : TRY(tx.query("PRAGMA foreign_key_check")))
    problems.push_back(
        fmt::format("a row of {} refers to one of {} that is missing", row.text(0), row.text(2)));
  return {};
}

Result<void> check_content(db::Transaction& tx, const audit::LogKeys& keys, DatabaseReport& report) {
  TRY(check_structure(tx, report.problems));
  db::TableCounter counter;
  TRY(db::dump_tables(tx, counter));
  report.tables = row_counts(counter);
  if (report.schema < report.newest_schema) return {};  // the log of an older schema may lack columns
  auto verdict = TRY(audit::verify(tx, keys, {}));
  report.audit_entries = verdict.count;
  for (const auto& problem : verdict.problems) report.problems.push_back("audit log: " + problem);
  return {};
}

bool is_url(const std::string& place) {
  return place.starts_with("postgres://") || place.starts_with("postgresql://");
}

std::string folder_of(const std::string& place) { return is_url(place) ? "" : place; }
std::string url_of(const std::string& place) { return is_url(place) ? place : ""; }

bool has_key(const std::string& place) {
  std::error_code ignored;
  return !is_url(place) && std::filesystem::exists(place + "/signing.key", ignored);
}

// The two are one instance, and so have one key.
Result<InstanceKeys> keys_of(const CopyDatabaseRequest& request) {
  auto first = request.signing_key_file;
  if (first.empty() && has_key(request.from)) first = request.from + "/signing.key";
  if (first.empty() && has_key(request.to)) first = request.to + "/signing.key";
  if (first.empty())
    return fail(Code::usage, "the copy is checked with the signing key: name it with --signing-key-file");
  auto keys = TRY(require_keys("", first, request.encryption_key_file));
  for (const auto& place : {request.from, request.to}) {
    if (!has_key(place)) continue;
    if (TRY(read_key(place + "/signing.key")).expose() != keys.signing.expose())
      return fail(Code::conflict, "{} has another signing key than {}; the rows would not open there", place,
                  first);
  }
  return keys;
}

Result<void> check_same(const db::TableCounter& source, const db::TableCounter& copy) {
  for (const auto& [name, table] : source.tables()) {
    auto found = copy.tables().find(name);
    if (found == copy.tables().end() || found->second != table)
      return fail(Code::integrity, "the rows of {} are not the same in the copy; nothing was written", name);
  }
  return {};
}

// A log that is damaged already may be copied as it is, and is no better there.
Result<void> check_log(db::Transaction& source, db::Transaction& copy, const audit::LogKeys& keys,
                       CopyDatabaseResult& result) {
  auto before = TRY(audit::verify(source, keys, {})), after = TRY(audit::verify(copy, keys, {}));
  if (before.ok != after.ok || before.count != after.count || before.root != after.root ||
      before.entry_hash != after.entry_hash)
    return fail(Code::integrity, "the audit log is not the same in the copy; nothing was written");
  result.audit_entries = after.count;
  if (!after.ok)
    result.notes.push_back(
        "the audit log does not verify with this signing key, in the source and so in the copy: " +
        after.problems.front());
  return {};
}

}  // namespace

Result<DatabaseReport> check_database(const Options& options, const Clock& clock) {
  auto sql = TRY(open_database(options.data_dir, options.database));
  auto keys = TRY(require_keys(options.data_dir, options.signing_key_file, options.encryption_key_file));
  DatabaseReport report;
  report.engine = sql->is_postgres() ? "postgres" : "sqlite";
  auto versions = TRY(db::schema_versions(*sql));
  TRY(db::check_schema(versions));
  report.schema = versions.present;
  report.newest_schema = versions.newest;
  report.min_schema = versions.minimum;
  auto log_keys = audit::derive_log_keys(audit_log_key(keys));
  TRY(sql->read([&](db::Transaction& tx) { return check_content(tx, log_keys, report); }));
  config::EncryptedStore settings(*sql, clock, config::derive_store_key(keys.signing, keys.encryption));
  for (const auto& key : TRY(settings.unreadable_keys()))
    report.problems.push_back(fmt::format("the setting {} cannot be opened", key));
  return report;
}

Result<CopyDatabaseResult> copy_database(const CopyDatabaseRequest& request, const Clock& clock) {
  if (request.from == request.to) return fail(Code::usage, "source and target are the same database");
  auto source = TRY(open_database(folder_of(request.from), url_of(request.from)));
  auto keys = TRY(keys_of(request));
  auto used = TRY(
      db::lock_database(database_place(folder_of(request.from), url_of(request.from)), db::Use::replacing));
  auto versions = TRY(db::schema_versions(*source));
  if (versions.present > versions.newest) TRY(db::check_schema({versions.present, versions.newest, 0}));
  auto target = TRY(DatabaseTarget::open(folder_of(request.to), url_of(request.to)));
  audit::Log log(target->sql(), clock, audit_log_key(keys));
  CopyDatabaseResult result;
  TRY(source->read([&](db::Transaction& from) {
    return target->replace(
        versions.present,
        [&](db::Transaction& to) -> Result<void> {
          db::TableLoader loader(to);
          TRY(db::dump_tables(from, loader));
          db::TableCounter before, after;
          TRY(db::dump_tables(from, before));
          TRY(db::dump_tables(to, after));
          TRY(check_same(before, after));
          result.tables = row_counts(after);
          return {};
        },
        [&](db::Transaction& to) { return check_log(from, to, log.keys(), result); });
  }));
  if (!is_url(request.to) && !has_key(request.to))
    result.notes.push_back(
        fmt::format("{} has no signing.key yet: put the instance's key there", request.to));
  return result;
}

OrderedJson to_json(const DatabaseReport& report) {
  return {{"ok", report.problems.empty()},         {"engine", report.engine},
          {"schema_version", report.schema},       {"newest_schema", report.newest_schema},
          {"min_schema", report.min_schema},       {"tables", report.tables},
          {"audit_entries", report.audit_entries}, {"problems", report.problems}};
}

OrderedJson to_json(const CopyDatabaseResult& result) {
  return {{"tables", result.tables}, {"audit_entries", result.audit_entries}, {"notes", result.notes}};
}

}  // namespace dash::app
