#include "core/db/wal_index.hpp"

#include <sqlite3.h>

#include <string_view>

namespace dash::db {
namespace {

constexpr int kRegionBytes = 32'768;  // SQLite maps the index in regions of this size
constexpr std::size_t kIsInitByte = 12;

// A database without an index would get one by the attempt to map it.
bool is_wal(sqlite3* db) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, "PRAGMA journal_mode", -1, &statement, nullptr);
  bool has_row = sqlite3_step(statement) == SQLITE_ROW;
  auto* mode = has_row ? reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)) : nullptr;
  bool wal = mode && std::string_view(mode) == "wal";
  sqlite3_finalize(statement);
  return wal;
}

}  // namespace

WalIndex::WalIndex(sqlite3* db) {
  sqlite3_file* file = nullptr;
  if (!is_wal(db) || sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return;
  if (!file || !file->pMethods || file->pMethods->iVersion < 2) return;
  void volatile* region = nullptr;
  if (file->pMethods->xShmMap(file, 0, kRegionBytes, /*extend=*/0, &region) != SQLITE_OK) return;
  copies_ = static_cast<const std::uint64_t*>(const_cast<void*>(region));
}

// A writer changes the second copy first, and SQLite's readers look at the first copy first.
std::optional<WalIndex::Header> WalIndex::header() const {
  if (!copies_) return {};
  Header first, second;
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = __atomic_load_n(copies_ + i, __ATOMIC_ACQUIRE);
  for (std::size_t i = 0; i < first.size(); ++i)
    second[i] = __atomic_load_n(copies_ + first.size() + i, __ATOMIC_ACQUIRE);
  bool is_initialized = reinterpret_cast<const unsigned char*>(first.data())[kIsInitByte] != 0;
  if (first != second || !is_initialized) return {};
  return first;
}

}  // namespace dash::db
