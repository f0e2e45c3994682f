// Backup and restore.
#include <filesystem>

#include "core/app/database.hpp"
#include "core/app/database_target.hpp"
#include "core/audit/anchor.hpp"
#include "core/audit/verify.hpp"
#include "core/base/file_stream.hpp"
#include "core/base/log.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/crypto/aead.hpp"
#include "core/db/backup_file.hpp"
#include "core/db/schema.hpp"
#include "core/identity/setup_code.hpp"

namespace dash::app {
namespace {

constexpr std::string_view kSettingsKeyText = "dashctl backup settings key";
// A session would let in whoever held it when the backup was made.
const std::vector<std::string> kEnded = {"sessions"};

Secret backup_key(const InstanceKeys& keys) { return keys.derive("dashctl backup v1"); }

Result<std::int64_t> audit_entries(db::Transaction& tx) {
  return TRY(tx.query("SELECT COUNT(*) FROM audit_log")).at(0).integer(0);
}

Result<BackupResult> write_backup(db::Transaction& tx, Sink& sink, const InstanceKeys& keys,
                                  const Clock& clock) {
  auto versions = TRY(db::schema_versions(tx));
  if (versions.present > versions.newest)
    return fail(Code::conflict,
                "the database has schema {}, newer than this program knows ({}); use a newer dashctl",
                versions.present, versions.newest);
  auto settings_key = config::derive_store_key(keys.signing, keys.encryption);
  db::BackupHead head{versions.present, format_iso(clock.now()), DASH_VERSION,
                      tx.is_postgres() ? "postgres" : "sqlite",
                      crypto::seal(settings_key, kSettingsKeyText, kSettingsKeyText)};
  auto key = backup_key(keys);
  db::BackupWriter writer(sink, key, head);
  TRY(writer.start());
  TRY(db::dump_tables(tx, writer, kEnded));
  TRY(writer.finish());
  auto entries = TRY(audit_entries(tx));
  return BackupResult{{}, head.made_at, head.schema, writer.rows(), entries};
}

// Reads the whole file once, so that a bad one is refused before a database is touched.
Result<db::BackupHead> check_backup(const std::string& file, const InstanceKeys& keys) {
  auto key = backup_key(keys);
  auto in = TRY(open_file(file));
  db::BackupReader reader(*in, key);
  auto head = TRY(reader.start());
  auto settings_key = config::derive_store_key(keys.signing, keys.encryption);
  if (!crypto::open(settings_key, head.settings_key, kSettingsKeyText))
    return fail(Code::conflict,
                "the settings of this backup were sealed by another encryption key; name it with "
                "--encryption-key-file, or leave that out when the instance had none");
  if (head.schema > db::newest_schema())
    return fail(Code::conflict,
                "the backup has schema {}, newer than this program knows ({}); use a newer dashctl",
                head.schema, db::newest_schema());
  db::TableCounter counter;
  TRY(reader.read(counter));
  return head;
}

Result<std::int64_t> revoke_tokens(db::Transaction& tx, const Clock& clock) {
  return tx.exec("UPDATE tokens SET revoked_at = $1 WHERE revoked_at IS NULL", {to_micros(clock.now())});
}

// The checkpoint of the data folder goes with a log that is replaced. One that the present log does not reach
// shows what an instance lost that is set up again from its backup, and stays.
bool belongs_to_replaced_log(db::Sql& sql, const std::string& path, const audit::LogKeys& keys) {
  auto text = read_file(path, 1u << 20);
  if (!text) return false;
  auto checkpoints = audit::parse_checkpoints(*text, keys.checkpoint.public_key);
  if (!checkpoints || checkpoints->empty()) return false;
  const auto& last = checkpoints->back();
  return db::read<bool>(sql,
                        [&](db::Transaction& tx) -> Result<bool> {
                          auto rows =
                              TRY(tx.query("SELECT entry_hash FROM audit_log WHERE seq = $1", {last.size}));
                          return last.size == 0 || (!rows.empty() && rows[0].blob(0) == last.entry_hash);
                        })
      .value_or(false);
}

// What the restored rows still need, in the same transaction.
Result<void> finish_restore(db::Transaction& tx, audit::Log& log, const db::BackupHead& head,
                            bool keep_tokens, RestoreResult& result) {
  auto verdict = TRY(audit::verify(tx, log.keys(), {}));
  result.audit_entries = verdict.count;
  result.is_audit_log_whole = verdict.ok;
  if (!keep_tokens) result.tokens_revoked = TRY(revoke_tokens(tx, log.clock()));
  TRY(log.append(tx, audit::make_event(local_operator(), "db.restore", std::nullopt,
                                       {{"made_at", head.made_at},
                                        {"entries", verdict.count},
                                        {"tokens_revoked", result.tokens_revoked}})));
  return {};
}

std::vector<std::string> notes_on(const RestoreResult& result, bool keep_tokens) {
  std::vector<std::string> out = {
      fmt::format(
          "the log of this backup ends with entry {}: an external checkpoint that is newer than the backup "
          "will not match, because the entries after it are lost",
          result.audit_entries),
      "all sessions have ended; the backup holds no keys, policy rules, deploy modules and assets"};
  if (keep_tokens) out.push_back("tokens that were good when the backup was made are good again");
  if (!result.is_audit_log_whole)
    out.push_back("the audit log was damaged when the backup was made; `dashctl audit verify` shows where");
  return out;
}

}  // namespace

Result<BackupResult> back_up(const Options& options, const std::string& file, const Clock& clock) {
  auto sql = TRY(open_database(options.data_dir, options.database));
  auto keys = TRY(require_keys(options.data_dir, options.signing_key_file, options.encryption_key_file));
  BackupResult result;
  TRY(write_file(
      file,
      [&](Sink& sink) {
        return sql->read([&](db::Transaction& tx) -> Result<void> {
          result = TRY(write_backup(tx, sink, keys, clock));
          return {};
        });
      },
      0600));
  result.file = file;
  return result;
}

Result<RestoreResult> restore(const Options& options, const std::string& file, bool keep_tokens,
                              const Clock& clock) {
  auto keys = TRY(require_keys(options.data_dir, options.signing_key_file, options.encryption_key_file));
  auto head = TRY(check_backup(file, keys));
  auto target = TRY(DatabaseTarget::open(options.data_dir, options.database));
  audit::Log log(target->sql(), clock, audit_log_key(keys));
  auto checkpoint = fmt::format("{}/{}", options.data_dir, audit::kLocalAnchorFile);
  bool is_stale = belongs_to_replaced_log(target->sql(), checkpoint, log.keys());
  RestoreResult result;
  result.made_at = head.made_at;
  auto key = backup_key(keys);
  TRY(target->replace(
      head.schema,
      [&](db::Transaction& tx) -> Result<void> {
        auto in = TRY(open_file(file));
        db::BackupReader reader(*in, key);
        TRY(reader.start());
        db::TableLoader loader(tx);
        TRY(reader.read(loader));
        result.rows = loader.rows();
        return {};
      },
      [&](db::Transaction& tx) { return finish_restore(tx, log, head, keep_tokens, result); }));
  std::error_code ignored;
  if (is_stale) std::filesystem::remove(checkpoint, ignored);
  identity::SetupCode(options.data_dir).remove();
  result.notes = notes_on(result, keep_tokens);
  return result;
}

OrderedJson to_json(const BackupResult& result) {
  return {{"file", result.file},
          {"made_at", result.made_at},
          {"schema_version", result.schema},
          {"rows", result.rows},
          {"audit_entries", result.audit_entries}};
}

OrderedJson to_json(const RestoreResult& result) {
  return {{"made_at", result.made_at},
          {"rows", result.rows},
          {"audit_entries", result.audit_entries},
          {"audit_ok", result.is_audit_log_whole},
          {"tokens_revoked", result.tokens_revoked},
          {"notes", result.notes}};
}

}  // namespace dash::app
