// A database whose content is replaced as a whole, by a backup or by a copy: in one transaction, under the lock
// that no server holds, and only while nobody has an account in it.
#pragma once
#include "core/app/keys.hpp"
#include "core/db/sql.hpp"
#include "core/db/use_lock.hpp"

namespace dash::app {

// Reads the keys of an instance and makes none. Code::conflict when there is no signing key.
Result<InstanceKeys> require_keys(const std::string& data_dir, const std::string& signing_key_file,
                                  const std::string& encryption_key_file);

// Opens a database as it is. Code::not_found when a folder has none.
Result<std::unique_ptr<db::Sql>> open_database(const std::string& data_dir, const std::string& url);

// What db::lock_database() takes.
std::string database_place(const std::string& data_dir, const std::string& url);

class DatabaseTarget {
 public:
  // With `url` empty: the SQLite database in `data_dir`, made when absent. What was made is removed again
  // unless replace() succeeds.
  static Result<std::unique_ptr<DatabaseTarget>> open(const std::string& data_dir, const std::string& url);
  ~DatabaseTarget();
  DatabaseTarget(const DatabaseTarget&) = delete;
  DatabaseTarget& operator=(const DatabaseTarget&) = delete;

  db::Sql& sql() { return *sql_; }
  // Calls `load` on the empty database of this schema, brings that to the newest schema, and calls `finish`.
  // Code::conflict when it has accounts.
  Result<void> replace(std::int64_t schema, const db::TransactionFn& load, const db::TransactionFn& finish);

 private:
  DatabaseTarget() = default;
  std::unique_ptr<db::Sql> sql_;
  std::unique_ptr<db::UseLock> lock_;
  std::string made_file_, made_folder_;
};

}  // namespace dash::app
