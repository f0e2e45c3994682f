// Leader and followers: writers that wait together run in one transaction, each in a savepoint of its own, so
// that one durable commit serves all. Both engines use it. Each supplies its connection and the statement
// that begins a write.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>

#include "core/db/sql.hpp"

namespace dash::db {

class GroupCommit {
 public:
  // Opens a write transaction that no other writer, of this process or another, can overlap.
  using Begin = std::function<Result<Transaction*>()>;
  explicit GroupCommit(Begin begin) : begin_(std::move(begin)) {}
  Result<void> write(const TransactionFn& body);

 private:
  struct Pending {
    const TransactionFn* body;
    Result<void> result{};
    bool is_leader = false, is_done = false;
    // one per writer: a commit wakes only the writers that it served, and the next leader
    std::condition_variable wake{};
  };
  void lead(std::unique_lock<std::mutex>& lock);
  void run(std::deque<Pending*>& batch);
  void run_one(Transaction& tx, Pending& pending);
  void run_batch(Transaction& tx, std::deque<Pending*>& batch);

  Begin begin_;
  std::mutex mutex_;
  std::deque<Pending*> queue_;
  bool has_leader_ = false;
};

// Runs a body. An exception becomes Code::internal with its text in the detail.
Result<void> run_catching(const TransactionFn& body, Transaction& tx);

}  // namespace dash::db
