// Which schema a database has, for who only looks at it (migrate_schema() in sql.hpp changes it).
#pragma once
#include "core/db/sql.hpp"

namespace dash::db {

struct SchemaVersions {
  std::int64_t present = 0;  // of the database
  std::int64_t newest = 0;   // that this program knows
};
Result<SchemaVersions> schema_versions(Sql& sql);

}  // namespace dash::db
