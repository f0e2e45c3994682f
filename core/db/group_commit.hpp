// Leader and followers: writers that wait together run in one transaction, each in a savepoint of its own, so
// that one durable commit serves all. Both engines use it. Each supplies its Writer.
#pragma once
#include "core/base/batching.hpp"
#include "core/db/sql.hpp"

namespace dash::db {

// The write side of an engine. One thread at a time uses it.
class Writer {
 public:
  virtual ~Writer() = default;
  // Opens a write transaction that no other writer, of this process or another, can overlap.
  virtual Result<Transaction*> begin() = 0;
  // Success is durable. A failure has changed nothing, or its message says that this is not known.
  virtual Result<void> commit() = 0;
  // Ends the transaction of a body that failed, without its changes. What the body read is durable when this
  // succeeds, so that a refusal may rest on it.
  virtual Result<void> abandon() = 0;
  // Ends the transaction after a failure of the database.
  virtual void rollback() = 0;
};

class GroupCommit {
 public:
  explicit GroupCommit(Writer& writer) : writer_(writer) {}
  Result<void> write(const TransactionFn& body);

 private:
  struct Pending {
    const TransactionFn* body;
    Result<void> result{};
  };
  using Batch = Batching<Pending>::Batch;
  using Take = Batching<Pending>::Take;
  void run(const Take& take);
  void run_one(Transaction& tx, Pending& pending);
  Result<void> run_bodies(Transaction& tx, Batch& batch);

  Writer& writer_;
  Batching<Pending> batches_{[this](const Take& take) { run(take); }};
};

// Runs a body. An exception becomes Code::internal with its text in the detail.
Result<void> run_catching(const TransactionFn& body, Transaction& tx);

}  // namespace dash::db
