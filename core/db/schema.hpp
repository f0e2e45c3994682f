// Reads which schema a database has. migrate_schema() in sql.hpp changes it.
#pragma once
#include "core/db/sql.hpp"

namespace dash::db {

struct SchemaVersions {
  std::int64_t present = 0;  // of the database
  std::int64_t newest = 0;   // the newest that this program has
};
Result<SchemaVersions> schema_versions(Sql& sql);

}  // namespace dash::db
