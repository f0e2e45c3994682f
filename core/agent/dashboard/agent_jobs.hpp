// The queue of jobs for agents. The dashboard submits and waits; the agent leases, reports and completes. A job
// is handed out once. Its payload is held sealed and goes when the agent has it; its result is held sealed and
// goes when the one who waits has taken it. Thread-safe; any replica may queue, lease and complete.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/agent/dashboard/agent.hpp"
#include "core/agent/dashboard/deps.hpp"
#include "core/agent/dashboard/waiting_leases.hpp"
#include "core/agent/protocol/documents.hpp"

namespace dash::agent {

// The largest payload, as canonical JSON: with it the envelope stays below the 256 KiB, before base64, that
// agents are promised.
inline constexpr std::size_t kMaxPayloadBytes = 300u << 10;
inline constexpr std::chrono::seconds kJobTimeout{90};

enum class AgentJobState { queued, running, completed, failed, cancelled };
std::string_view word(AgentJobState state);

struct AgentJobRequest {
  std::string agent_id;
  std::string job_type;
  Json payload = Json::object();  // what the agent gets; held sealed
  Json summary = Json::object();  // what may stay in clear: operation, share, name; never content or a secret
  std::string created_by;
  std::chrono::seconds lease_within = kJobTimeout;  // after it the job is cancelled and never handed out
  std::chrono::seconds answer_within =
      kJobTimeout;  // after it run() gives up; both count from the submission
};

// A job without its payload and result.
struct AgentJob {
  std::string id, agent_id, job_type;
  AgentJobState state = AgentJobState::queued;
  Json summary;
  std::string error;  // of a failed job, as the agent wrote it
  int progress = 0;   // percent
  std::string message;
  std::int64_t log_lines = 0;  // the number of the last one
  std::string created_by;
  Time created_at, expires_at;
  bool is_leased = false;    // it was handed out
  bool is_answered = false;  // the agent completed it, even if it was cancelled before
};

struct AgentJobResult {
  std::string job_id;
  Json result;  // an object
};

// Called by run() in its own thread. All may be empty.
struct AgentJobObserver {
  std::function<void(const std::string& line)> on_log{};
  std::function<void(int percent, const std::string& message)> on_progress{};
  // Asked several times a second. True: the job is cancelled.
  std::function<bool()> should_stop{};
  // So long a cancelled job that runs may still report its end.
  std::chrono::seconds stop_within{0};
};

// How far an observer has been called.
struct JobCursor {
  std::int64_t lines = 0;
  int progress = 0;
  std::string message;
};

class AgentJobs {
 public:
  explicit AgentJobs(Deps deps);

  // Runs a job and waits for its result. Errors:
  //   those of submit()
  //   Code::upstream     the agent failed it: its own text · no answer in time: says whether the job was still
  //                      queued, and so never ran, or may still be carried out
  //   Code::interrupted  should_stop() said so
  Result<AgentJobResult> run(const AgentJobRequest& request, const AgentJobObserver& observer = {});

  // The parts of run(). submit() returns the job's id. It checks in one transaction that the agent is ready
  // (check_ready) and the payload fits: Code::upstream, Code::too_large.
  Result<std::string> submit(const AgentJobRequest& request);
  Result<AgentJob> find(const std::string& job_id);
  // Waits until the job has ended, `until` has passed or should_stop() says so, and passes on what is new behind
  // `cursor`. Returns the job as it is then.
  Result<AgentJob> wait(const std::string& job_id, Time until, const AgentJobObserver& observer,
                        JobCursor& cursor);
  // Returns the result of a completed job and drops it. Code::not_found when it is gone.
  Result<Json> take_result(const std::string& job_id);
  // Cancels a job that has not ended; an agent that runs it learns so by its next heartbeat.
  Result<void> cancel(const std::string& job_id);

  // The agent's requests. The agent was authenticated before (agent_requests.hpp).

  // Returns the oldest job of a type that the agent is granted, once; or none. Code::unauthenticated when it
  // was revoked meanwhile.
  Result<LeaseReply> lease(const Agent& agent);
  // Returns the job while it runs at this agent. Code::conflict otherwise.
  Result<AgentJob> running_job(const Agent& agent, const std::string& job_id);
  // Returns whether the job was cancelled. Here and below Code::conflict, with one text, for a job that is not
  // this agent's, does not exist, or is in another state than running or cancelled.
  Result<bool> heartbeat(const Agent& agent, const std::string& job_id, const Heartbeat& heartbeat);
  // Returns the number of lines that were written: none beyond kMaxLinesPerJob, and of numbered ones none that the
  // job has already. What an agent could not deliver leaves a gap in the numbers.
  Result<std::int64_t> add_logs(const Agent& agent, const std::string& job_id, const LogLines& log);
  // The first completion stands. Returns the job's state, which is `cancelled` for a job that was cancelled and
  // `failed` for a result of more than kMaxResultBytes.
  Result<AgentJobState> complete(const Agent& agent, const std::string& job_id, const Completion& completion);

  // Called in the transaction that records an answer of an agent, whoever waits for it or no longer does. Set
  // while the application is built.
  using OnAnswer = std::function<Result<void>(db::Transaction& tx, const AgentJob& job)>;
  void on_answer(OnAnswer on_answer) { on_answer_ = std::move(on_answer); }

  // Cancels what nobody leased in time, fails what no agent reports on any more, drops content that nobody takes
  // and history beyond its bound. Idempotent; the server calls it every few seconds.
  Result<void> sweep();
  // Likewise; a failure is logged.
  void tick();
  // Lets every run() and wait() of this process return soon, because the process ends.
  void stop();

  // Where leases wait for a job.
  const std::shared_ptr<WaitingLeases>& waiting_leases() const { return waiting_; }
  const Deps& deps() const { return deps_; }

 private:
  Result<AgentJobResult> conclude(const AgentJob& job);
  Result<void> pass_on(const AgentJob& job, const AgentJobObserver& observer, JobCursor& cursor);
  Result<void> stop_job(const std::string& job_id, const AgentJobObserver& observer, JobCursor& cursor);
  void wait_for_change(std::uint64_t seen);
  std::uint64_t changes();
  Result<void> abandon(const std::string& job_id);
  void notify_waiters();

  Deps deps_;
  OnAnswer on_answer_;
  std::shared_ptr<WaitingLeases> waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t changes_ = 0;  // reports of agents to this process
  std::atomic<bool> is_stopping_ = false;
};

}  // namespace dash::agent
