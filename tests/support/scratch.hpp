// A folder of its own for a test, and a migrated SQLite database in it.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "core/db/sql.hpp"
#include "tests/support/must.hpp"

namespace dash {

class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "dashctl-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Scratch() {
    std::error_code ec;
    std::filesystem::remove_all(path_, ec);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

inline std::unique_ptr<db::Sql> scratch_database(const Scratch& scratch,
                                                 std::string_view name = "dashctl.db") {
  auto sql = must(db::open_sqlite(scratch / name));
  must(db::migrate_schema(*sql));
  return sql;
}

}  // namespace dash
