// The last decisions of the gate, for `policy diff` to replay and operators to read; apart from the audit log
// and not as durable: a decision waits in memory for at most a moment and is written behind the answer, and a
// clean end writes what waits. Thread-safe.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "core/db/sql.hpp"
#include "core/policy/decision.hpp"

namespace dash::policy {

inline constexpr std::int64_t kMaxDecisions = 10'000;

struct Recorded {
  Time at;
  std::string action, username;
  Verdict verdict = Verdict::allow;
  std::vector<std::string> rules;
  std::string policy_digest, input_digest;
  Json input;  // secrets are masked when it is written
};

class DecisionLog {
 public:
  explicit DecisionLog(db::Sql& sql) : sql_(sql) {}
  ~DecisionLog();
  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;

  void record(const Decision& decision, Time at);
  // Writes what waits; also what a reader calls first.
  Result<void> flush();
  // Newest first.
  Result<std::vector<Recorded>> recent(std::int64_t limit);

 private:
  void run();
  db::Sql& sql_;
  std::mutex mutex_;
  std::mutex write_mutex_;  // one batch at a time, in order
  std::condition_variable woken_;
  std::deque<Recorded> waiting_;
  bool closing_ = false;
  std::thread thread_;  // started by the first decision
};

// A copy in which every member whose name ends like a secret's holds the mask.
Json mask_secrets(Json document);

}  // namespace dash::policy
