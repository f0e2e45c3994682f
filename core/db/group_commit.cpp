#include "core/db/group_commit.hpp"

#include "core/base/before_wait.hpp"

namespace dash::db {

Result<void> run_catching(const TransactionFn& body, Transaction& tx) {
  try {
    return body(tx);
  } catch (const std::exception& e) {
    return Failure(Error{
        .code = Code::internal, .message = "an internal error; the log has the reason", .detail = e.what()});
  }
}

Result<void> GroupCommit::write(const TransactionFn& body) {
  before_wait();
  Pending mine{&body};
  batches_.run(mine);
  return std::move(mine.result);
}

// Who comes while another process holds the writers' lock still goes along.
void GroupCommit::run(const Take& take) {
  auto tx = writer_.begin();
  auto batch = take();
  if (!tx) {
    for (auto* p : batch) p->result = Failure(tx.error());
    return;
  }
  if (batch.size() == 1) return run_one(**tx, *batch.front());
  auto done = run_bodies(**tx, batch);
  if (!done) writer_.rollback();
  if (done) done = writer_.commit();
  if (done) return;
  // A refusal rests on what was read, and so counts no more than the rest.
  for (auto* p : batch) p->result = Failure(done.error());
}

// Alone in its transaction, it needs no savepoint.
void GroupCommit::run_one(Transaction& tx, Pending& pending) {
  pending.result = run_catching(*pending.body, tx);
  auto ended = pending.result ? writer_.commit() : writer_.abandon();
  if (!ended) pending.result = Failure(ended.error());
}

Result<void> GroupCommit::run_bodies(Transaction& tx, Batch& batch) {
  for (auto* p : batch) {
    TRY(tx.exec("SAVEPOINT one"));
    p->result = run_catching(*p->body, tx);
    if (!p->result) TRY(tx.exec("ROLLBACK TO SAVEPOINT one"));
    TRY(tx.exec("RELEASE SAVEPOINT one"));
  }
  return {};
}

}  // namespace dash::db
