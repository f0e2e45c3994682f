// What the job of a migration has copied, kept in the database: a job that runs again because its process
// died goes on from there. Only that job reads it. Thread-safe.
#pragma once
#include <map>
#include <string>

#include "core/db/sql.hpp"

namespace dash::storage {

struct JournalEntry {
  std::string source_etag;
  std::string target_etag;  // empty: the copy had begun
};

class MigrationJournal {
 public:
  // Reads what an earlier run of the job wrote.
  static Result<MigrationJournal> open(db::Sql& sql, const std::string& job_id);

  // Returns the entry of an earlier run, or nullptr.
  const JournalEntry* find(const std::string& item) const;
  Result<void> put(db::Transaction& tx, const std::string& item, const JournalEntry& entry) const;
  Result<void> remove(db::Transaction& tx, const std::string& item) const;
  // Removes all entries of the job.
  Result<void> clear(db::Transaction& tx) const;
  // Gives the entries of a job that will not run again to the one that goes on with it.
  static Result<void> hand_over(db::Transaction& tx, const std::string& from_job, const std::string& to_job);
  // Removes the entries of jobs that have ended or are gone.
  static Result<void> clear_ended(db::Transaction& tx);

 private:
  explicit MigrationJournal(std::string job_id) : job_id_(std::move(job_id)) {}
  std::string job_id_;
  std::map<std::string, JournalEntry> earlier_;
};

}  // namespace dash::storage
