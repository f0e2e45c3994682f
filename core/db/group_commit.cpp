#include "core/db/group_commit.hpp"

namespace dash::db {

Result<void> guarded(const Body& body, Transaction& tx) {
  try {
    return body(tx);
  } catch (const std::exception& e) {
    return Failure(Error{Code::internal, "an internal error; the log has the reason", e.what(), {}, {}});
  }
}

Result<void> GroupCommit::write(const Body& body) {
  Pending mine{&body, {}, false};
  std::unique_lock lock(mutex_);
  queue_.push_back(&mine);
  while (!mine.done) {
    if (leading_) {
      done_.wait(lock);
      continue;
    }
    leading_ = true;
    std::deque<Pending*> batch;
    batch.swap(queue_);
    lock.unlock();
    run(batch);
    lock.lock();
    for (auto* p : batch) p->done = true;
    leading_ = false;
    done_.notify_all();
  }
  return std::move(mine.result);
}

void GroupCommit::run(std::deque<Pending*>& batch) {
  auto tx = begin_();
  if (tx) return run_in(**tx, batch);
  for (auto* p : batch) p->result = Failure(tx.error());
}

void GroupCommit::run_in(Transaction& tx, std::deque<Pending*>& batch) {
  auto fail_all = [&](const Error& error) {
    for (auto* p : batch)
      if (p->result) p->result = Failure(error);
    std::ignore = tx.exec("ROLLBACK");
  };
  for (auto* p : batch) {
    if (auto set = tx.exec("SAVEPOINT one"); !set) return fail_all(set.error());
    p->result = guarded(*p->body, tx);
    if (!p->result) {
      if (auto undone = tx.exec("ROLLBACK TO SAVEPOINT one"); !undone) return fail_all(undone.error());
    }
    if (auto released = tx.exec("RELEASE SAVEPOINT one"); !released) return fail_all(released.error());
  }
  if (auto committed = tx.exec("COMMIT"); !committed) fail_all(committed.error());
}

}  // namespace dash::db
