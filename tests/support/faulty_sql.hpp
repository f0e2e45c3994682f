// A database that fails at the statement of a write that a test names, or after the commit (the response was
// lost). A test runs a flow for statement 1, 2, … until it passes untouched, and so sees every place where it
// can break.
#pragma once
#include <memory>

#include "core/db/sql.hpp"

namespace dash {

class FaultySql final : public db::Sql {
 public:
  explicit FaultySql(db::Sql& sql) : sql_(sql) {}

  // Counted from 1 over all writes from here on; each commit counts as one.
  void fail_at(int number) { number_ = number, calls_ = 0; }
  void heal() { number_ = 0; }
  bool has_failed() const { return number_ > 0 && calls_ >= number_; }

  Result<void> read(const db::TransactionFn& body) override { return sql_.read(body); }
  Result<void> write(const db::TransactionFn& body) override {
    TRY(sql_.write([&](db::Transaction& tx) {
      Statements statements(tx, *this);
      return body(statements);
    }));
    return next();
  }
  bool is_postgres() const override { return sql_.is_postgres(); }

 private:
  class Statements final : public db::Transaction {
   public:
    Statements(db::Transaction& tx, FaultySql& faults) : tx_(tx), faults_(faults) {}
    Result<db::Rows> query(std::string_view sql, db::Params params) override {
      TRY(faults_.next());
      return tx_.query(sql, std::move(params));
    }
    Result<std::int64_t> exec(std::string_view sql, db::Params params) override {
      TRY(faults_.next());
      return tx_.exec(sql, std::move(params));
    }
    Result<void> each(std::string_view sql, db::Params params,
                      const std::function<Result<void>(const db::Row&)>& row) override {
      TRY(faults_.next());
      return tx_.each(sql, std::move(params), row);
    }
    bool is_postgres() const override { return tx_.is_postgres(); }

   private:
    db::Transaction& tx_;
    FaultySql& faults_;
  };

  Result<void> next() {
    if (++calls_ == number_) return fail(Code::internal, "the database failed");
    return {};
  }
  db::Sql& sql_;
  int number_ = 0;
  int calls_ = 0;
};

}  // namespace dash
