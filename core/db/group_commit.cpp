#include "core/db/group_commit.hpp"

#include <utility>

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
  Pending mine{&body};
  std::unique_lock lock(mutex_);
  queue_.push_back(&mine);
  mine.is_leader = !std::exchange(has_leader_, true);
  mine.wake.wait(lock, [&] { return mine.is_leader || mine.is_done; });
  if (!mine.is_done) lead(lock);
  return std::move(mine.result);
}

// Serves all waiting writers, the leader among them, then makes one that came meanwhile the leader.
void GroupCommit::lead(std::unique_lock<std::mutex>& lock) {
  std::deque<Pending*> batch;
  batch.swap(queue_);
  lock.unlock();
  run(batch);
  lock.lock();
  for (auto* p : batch) {
    p->is_done = true;
    p->wake.notify_one();
  }
  has_leader_ = !queue_.empty();
  if (!has_leader_) return;
  queue_.front()->is_leader = true;
  queue_.front()->wake.notify_one();
}

void GroupCommit::run(std::deque<Pending*>& batch) {
  auto tx = begin_();
  if (!tx) {
    for (auto* p : batch) p->result = Failure(tx.error());
  } else if (batch.size() == 1) {
    run_one(**tx, *batch.front());
  } else {
    run_batch(**tx, batch);
  }
}

// Alone in its transaction, it needs no savepoint.
void GroupCommit::run_one(Transaction& tx, Pending& pending) {
  pending.result = run_catching(*pending.body, tx);
  auto ended = tx.exec(pending.result ? "COMMIT" : "ROLLBACK");
  if (ended) return;
  if (pending.result) pending.result = Failure(ended.error());
  std::ignore = tx.exec("ROLLBACK");
}

void GroupCommit::run_batch(Transaction& tx, std::deque<Pending*>& batch) {
  auto fail_all = [&](const Error& error) {
    for (auto* p : batch)
      if (p->result) p->result = Failure(error);
    std::ignore = tx.exec("ROLLBACK");
  };
  for (auto* p : batch) {
    if (auto set = tx.exec("SAVEPOINT one"); !set) return fail_all(set.error());
    p->result = run_catching(*p->body, tx);
    if (!p->result) {
      if (auto undone = tx.exec("ROLLBACK TO SAVEPOINT one"); !undone) return fail_all(undone.error());
    }
    if (auto released = tx.exec("RELEASE SAVEPOINT one"); !released) return fail_all(released.error());
  }
  if (auto committed = tx.exec("COMMIT"); !committed) fail_all(committed.error());
}

}  // namespace dash::db
