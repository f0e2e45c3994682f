// The last decisions of the gate, for `policy diff` to replay and operators to read. It is apart from the
// audit log and less durable: a decision waits in memory for at most a moment and is written after the
// response. A clean end writes what waits. Thread-safe.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "core/base/principal.hpp"
#include "core/config/clouds.hpp"
#include "core/db/sql.hpp"
#include "core/policy/decision.hpp"

namespace dash::policy {

inline constexpr std::int64_t kMaxDecisions = 10'000;
inline constexpr std::int64_t kMaxDryRuns = 1'000;  // counted apart, so that they displace no decision

struct DecisionRecord {
  Time at;  // the evaluated instant
  std::string action, username;
  std::string request_id;  // empty without a request
  Verdict verdict = Verdict::allow;
  std::vector<std::string> reasons;  // of the verdict: of the deny, or of the approval
  bool is_enforced = false;          // false for a dry run, and for an approval that is not enforced
  bool is_dry_run = false;
  std::vector<std::string> rules;
  std::string policy_digest, input_digest;
  Json input;           // secrets are masked when it is written
  std::string id = {};  // set when it is read
};
//   {id, at, action, actor, request_id, verdict, reasons, enforced, dry_run, rules, workgroup, policy_digest,
//    input_digest, input}
OrderedJson to_json(const DecisionRecord& record, config::NameStyle style);

inline constexpr std::int64_t kMaxDecisionPage = 1'000'000, kMaxDecisionPageSize = 200;

// Absent members filter nothing.
struct DecisionFilter {
  std::optional<std::string> action;  // canonical
  std::optional<std::string> username, workgroup;
  std::optional<Verdict> verdict;
  std::optional<Time> since, until;  // of the evaluated instant, both included
  bool is_dry_run = false;           // the dry runs instead of the decisions about changes
  std::int64_t page = 1, page_size = 50;
};
struct DecisionPage {
  std::vector<DecisionRecord> decisions;  // newest first
  std::int64_t total = 0;
};
// {decisions, total, page, page_size}
OrderedJson to_json(const DecisionPage& page, const DecisionFilter& filter, config::NameStyle style);

class DecisionLog {
 public:
  explicit DecisionLog(db::Sql& sql) : sql_(sql) {}
  ~DecisionLog();
  DecisionLog(const DecisionLog&) = delete;
  DecisionLog& operator=(const DecisionLog&) = delete;

  void record(const Decision& decision, const Actor& actor, Time at, bool is_dry_run = false);
  // Writes what waits. A reader calls it first.
  Result<void> flush();
  // Returns the decisions about changes, or the dry runs; newest first.
  Result<std::vector<DecisionRecord>> recent(std::int64_t limit, bool dry_runs = false);
  // Returns a page of what matches the filter. Admins only.
  Result<DecisionPage> list(const Principal& principal, const DecisionFilter& filter);

 private:
  void run();
  db::Sql& sql_;
  std::mutex mutex_;
  std::mutex write_mutex_;  // one batch at a time, in order
  std::condition_variable woken_;
  std::deque<DecisionRecord> pending_;
  bool closing_ = false;
  std::thread thread_;  // started by the first decision
};

// Returns a copy in which every member with a name like a secret's has the mask as its value.
Json mask_secrets(Json document);

}  // namespace dash::policy
