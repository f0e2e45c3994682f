#include "core/storage/assets/migration_journal.hpp"

namespace dash::storage {

Result<MigrationJournal> MigrationJournal::open(db::Sql& sql, const std::string& job_id) {
  MigrationJournal journal(job_id);
  TRY(sql.read([&](db::Transaction& tx) {
    journal.earlier_.clear();
    return tx.each("SELECT item, source_etag, target_etag FROM migration_journal WHERE job_id = $1", {job_id},
                   [&](const db::Row& row) -> Result<void> {
                     journal.earlier_[row.text(0)] = {row.text(1), row.text(2)};
                     return {};
                   });
  }));
  return journal;
}

const JournalEntry* MigrationJournal::find(const std::string& item) const {
  auto found = earlier_.find(item);
  return found == earlier_.end() ? nullptr : &found->second;
}

Result<void> MigrationJournal::put(db::Transaction& tx, const std::string& item,
                                   const JournalEntry& entry) const {
  TRY(tx.exec(
      R"(INSERT INTO migration_journal (job_id, item, source_etag, target_etag) VALUES ($1, $2, $3, $4)
         ON CONFLICT (job_id, item) DO UPDATE SET source_etag = $3, target_etag = $4)",
      {job_id_, item, entry.source_etag, entry.target_etag}));
  return {};
}

Result<void> MigrationJournal::remove(db::Transaction& tx, const std::string& item) const {
  TRY(tx.exec("DELETE FROM migration_journal WHERE job_id = $1 AND item = $2", {job_id_, item}));
  return {};
}

Result<void> MigrationJournal::clear(db::Transaction& tx) const {
  TRY(tx.exec("DELETE FROM migration_journal WHERE job_id = $1", {job_id_}));
  return {};
}

Result<void> MigrationJournal::hand_over(db::Transaction& tx, const std::string& from_job,
                                         const std::string& to_job) {
  TRY(tx.exec("UPDATE migration_journal SET job_id = $2 WHERE job_id = $1", {from_job, to_job}));
  return {};
}

Result<void> MigrationJournal::clear_ended(db::Transaction& tx) {
  TRY(tx.exec(
      R"(DELETE FROM migration_journal WHERE job_id NOT IN
           (SELECT id FROM jobs WHERE state IN ('pending', 'running')))"));
  return {};
}

}  // namespace dash::storage
