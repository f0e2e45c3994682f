// Reads which schema a database has, and changes it within a transaction. migrate_schema() in sql.hpp is what
// opens a database.
#pragma once
#include "core/db/sql.hpp"

namespace dash::db {

struct SchemaVersions {
  std::int64_t present = 0;  // of the database
  std::int64_t newest = 0;   // the newest that this program has
  std::int64_t minimum =
      0;  // the oldest program's newest that may use the database; 0 before it was recorded
};
// Returns the number of the newest step.
int newest_schema();
// Returns the names of all tables that any step makes.
std::vector<std::string> schema_tables();
// Returns the names of their functions, which PostgreSQL has.
std::vector<std::string> schema_functions();
Result<SchemaVersions> schema_versions(Sql& sql);
Result<SchemaVersions> schema_versions(Transaction& tx);
// Code::conflict, with what to do, when this program is too old for the database.
Result<void> check_schema(const SchemaVersions& versions);
// Runs the steps that are missing up to `version`, in a database that may be empty.
Result<void> migrate_schema_to(Transaction& tx, std::int64_t version);

}  // namespace dash::db
