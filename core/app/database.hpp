// Backs up, restores, checks and copies the database of an instance (`dashctl db`). None of these starts an
// instance or makes a key: a database without its keys is worth nothing.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/app/application.hpp"
#include "core/base/json.hpp"

namespace dash::app {

struct BackupResult {
  std::string file, made_at;
  std::int64_t schema = 0, rows = 0, audit_entries = 0;
};
// Writes a backup of the instance, as it is at one moment, into `file` (0600), which is replaced only when the
// new one is whole. A running server is not disturbed. Code::not_found where there is no instance.
Result<BackupResult> back_up(const Options& options, const std::string& file, const Clock& clock);
// {file, made_at, schema_version, rows, audit_entries}
OrderedJson to_json(const BackupResult& result);

struct RestoreResult {
  std::string made_at;  // of the backup
  std::int64_t rows = 0, audit_entries = 0, tokens_revoked = 0;
  bool is_audit_log_whole = true;
  // What the operator has to know, sentences.
  std::vector<std::string> notes;
};
// Puts the content of a backup into the instance. Code::conflict, with nothing written, when the instance has
// accounts, its keys do not open the backup, or a server runs on it; Code::integrity for a file that is no
// whole backup. Sessions are ended; tokens are revoked unless `keep_tokens`.
Result<RestoreResult> restore(const Options& options, const std::string& file, bool keep_tokens,
                              const Clock& clock);
// {made_at, rows, audit_entries, audit_ok, tokens_revoked, notes}
OrderedJson to_json(const RestoreResult& result);

struct DatabaseReport {
  std::string engine;  // "sqlite" or "postgres"
  std::int64_t schema = 0, newest_schema = 0, min_schema = 0;
  std::map<std::string, std::int64_t> tables;  // rows
  std::int64_t audit_entries = 0;
  std::vector<std::string> problems;
};
// Reads every row: structure, references, settings, audit log. Changes nothing.
Result<DatabaseReport> check_database(const Options& options, const Clock& clock);
// {ok, engine, schema_version, newest_schema, min_schema, tables: {name: rows}, audit_entries, problems}
OrderedJson to_json(const DatabaseReport& report);

struct CopyDatabaseRequest {
  std::string from, to;                               // a data folder or postgres://…
  std::string signing_key_file, encryption_key_file;  // empty: signing.key of the folder among the two; none
};
struct CopyDatabaseResult {
  std::map<std::string, std::int64_t> tables;  // rows
  std::int64_t audit_entries = 0;
  std::vector<std::string> notes;
};
// Copies every row, then compares all of them and the audit chain, before anything counts. Code::conflict when
// a server runs on either, the target has accounts, or the two have different keys.
Result<CopyDatabaseResult> copy_database(const CopyDatabaseRequest& request, const Clock& clock);
// {tables: {name: rows}, audit_entries, notes}
OrderedJson to_json(const CopyDatabaseResult& result);

}  // namespace dash::app
