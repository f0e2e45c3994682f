// The rows of a whole database, table by table: for backups, and for copies from one engine to the other.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/db/exec_many.hpp"

namespace dash::db {

struct Table {
  std::string name;
  std::vector<std::string> columns;
};

// Takes the rows of one table after the other. A sink is unusable after an error.
class TableSink {
 public:
  virtual ~TableSink() = default;
  virtual Result<void> begin(const Table& table) = 0;
  virtual Result<void> row(Params values) = 0;
  virtual Result<void> end() = 0;  // of the table
};

// Returns the tables of our schema that this database has, each after those that it refers to. Tables that
// belong to one process or to the schema itself are left out.
Result<std::vector<Table>> list_tables(Transaction& tx);

// Writes all rows into `sink`, without those of the tables `without`.
Result<void> dump_tables(Transaction& tx, TableSink& sink, const std::vector<std::string>& without = {});

// Makes `tx` an empty database of this schema, whatever it holds now. Tables of others stay.
Result<void> clear_to_schema(Transaction& tx, std::int64_t version);

// Writes rows into the tables of `tx`, which clear_to_schema() made. Code::integrity for a table or a column
// that they do not have.
class TableLoader final : public TableSink {
 public:
  explicit TableLoader(Transaction& tx) : tx_(tx) {}
  Result<void> begin(const Table& table) override;
  Result<void> row(Params values) override;
  Result<void> end() override;
  std::int64_t rows() const { return rows_; }

 private:
  Result<void> flush();
  Transaction& tx_;
  std::int64_t rows_ = 0;
  std::map<std::string, Table> known_;
  std::string table_, insert_;
  std::size_t columns_ = 0, pending_bytes_ = 0;
  std::vector<Statement> pending_;
};

// How many rows a table has, and the sum of the first 8 bytes of their SHA-256s: their order does not matter.
struct TableDigest {
  std::int64_t rows = 0;
  std::uint64_t sum = 0;
  bool operator==(const TableDigest&) const = default;
};

class TableCounter final : public TableSink {
 public:
  Result<void> begin(const Table& table) override;
  Result<void> row(Params values) override;
  Result<void> end() override { return {}; }
  const std::map<std::string, TableDigest>& tables() const { return tables_; }
  std::int64_t rows() const;

 private:
  std::map<std::string, TableDigest> tables_;
  TableDigest* current_ = nullptr;
};

// Whether anybody has an account in this database, which may be empty.
Result<bool> has_accounts(Transaction& tx);

// `number` in so many bytes.
std::string big_endian(std::uint64_t number, int bytes);
// One row as bytes: 'n', 'i' and 8 bytes, 't' or 'b' and the length (4) and the bytes, for each value.
// Integers are big-endian.
void encode_row(const Params& values, std::string& out);

}  // namespace dash::db
