// The header of a SQLite database's WAL index (sqlite.org/walformat.html, "The WAL-Index File Format"). Every commit, of
// this process or another, changes it. A look at it is a read of shared memory, where a statement takes and releases a
// lock of the file.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

struct sqlite3;

namespace dash::db {

class WalIndex {
 public:
  using Header = std::array<std::uint64_t, 6>;
  // `db` has read its database, and is not used by another thread meanwhile. It must outlive this.
  explicit WalIndex(sqlite3* db);
  // Returns nullopt while a writer changes it, and always where the database has no index.
  std::optional<Header> header() const;

 private:
  const std::uint64_t* copies_ = nullptr;  // two, one after the other
};

}  // namespace dash::db
