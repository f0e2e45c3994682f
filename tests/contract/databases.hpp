// The database that a contract test runs on: "sqlite", or "postgres" at DATABASE_URL, emptied.
#pragma once
#include <cstdlib>

#include "tests/support/scratch.hpp"

namespace dash {

// Without a schema.
inline std::unique_ptr<db::Sql> empty_contract_database(std::string_view engine, const Scratch& scratch) {
  if (engine == "sqlite") return must(db::open_sqlite(scratch / "dashctl.db"));
  const char* url = std::getenv("DATABASE_URL");
  if (!url) throw std::runtime_error("DATABASE_URL is not set: scripts/test starts a server and sets it");
  auto sql = must(db::open_postgres(url));
  must(sql->write([](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("DROP SCHEMA public CASCADE"));
    TRY(tx.exec("CREATE SCHEMA public"));
    return {};
  }));
  return sql;
}

inline std::unique_ptr<db::Sql> contract_database(std::string_view engine, const Scratch& scratch) {
  auto sql = empty_contract_database(engine, scratch);
  must(db::migrate_schema(*sql));
  return sql;
}

// Another process on the database that contract_database() made.
inline std::unique_ptr<db::Sql> contract_replica(std::string_view engine, const Scratch& scratch) {
  return must(engine == "sqlite" ? db::open_sqlite(scratch / "dashctl.db")
                                 : db::open_postgres(std::getenv("DATABASE_URL")));
}

}  // namespace dash
