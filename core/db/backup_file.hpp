// A backup: all rows of a database in one sealed file (docs/formats.md, "Backup"). It opens with the key of the
// instance alone, and shows every change of a byte. Written and read piece by piece, in constant memory.
#pragma once
#include "core/base/secret.hpp"
#include "core/base/stream.hpp"
#include "core/db/tables.hpp"

namespace dash::db {

inline constexpr int kBackupFormat = 1;

// What the head of a file says. It is readable without the key, and sealed with the rest all the same.
struct BackupHead {
  std::int64_t schema = 0;   // the newest step of the database
  std::string made_at;       // ISO time
  std::string made_by;       // version of the program
  std::string engine;        // "sqlite" or "postgres"
  std::string settings_key;  // a text sealed under the key of the settings, opaque here
};

// The keys that a file was made with are proved by what only they open.
class BackupWriter final : public TableSink {
 public:
  // `key` has 32 bytes.
  BackupWriter(Sink& out, const Secret& key, const BackupHead& head);
  // Writes the head. Called first.
  Result<void> start();
  Result<void> begin(const Table& table) override;
  Result<void> row(Params values) override;
  Result<void> end() override;
  // Writes the last piece. Without it the file is a truncated one.
  Result<void> finish();
  std::int64_t rows() const { return all_rows_; }

 private:
  Result<void> flush(bool is_last);
  Sink& out_;
  const Secret& key_;
  std::string head_, head_hash_, plain_;
  std::uint64_t pieces_ = 0;
  std::int64_t rows_ = 0, all_rows_ = 0;  // of this table, of all
};

class BackupReader {
 public:
  BackupReader(Source& in, const Secret& key) : in_(in), key_(key) {}
  // Reads the head. Code::integrity for what is no backup, is damaged, or has another format; Code::conflict
  // when another key made it.
  Result<BackupHead> start();
  // Passes all rows to `sink`. Code::integrity for a file that is not what was written, at whatever place; what
  // the sink got until then is to be given up.
  Result<void> read(TableSink& sink);

 private:
  Result<void> read_exactly(std::string& into, std::size_t size);
  Result<std::uint64_t> read_number();
  Result<void> next_piece();
  // The next `size` bytes of what was sealed.
  Result<std::string> plain(std::size_t size);
  Result<std::uint64_t> plain_number(int bytes);
  Result<std::string> plain_text();
  Result<Value> plain_value(char kind);
  Result<Table> plain_table();
  Result<void> read_rows(const Table& table, TableSink& sink);

  Source& in_;
  const Secret& key_;
  std::string head_hash_, plain_;
  std::size_t at_ = 0;
  std::uint64_t pieces_ = 0;
  bool is_last_ = false;
};

}  // namespace dash::db
