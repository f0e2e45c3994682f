// Keeps the loaded policy of a folder current: one thread reads the folder, checks it, starts the engine and
// ends the old one. Callers wait together for the round that serves them, each until its own deadline.
// Thread-safe.
#pragma once
#include <condition_variable>
#include <thread>

#include "core/policy/opa/loaded_policy.hpp"

namespace dash::policy {

using PolicyPtr = std::shared_ptr<LoadedPolicy>;

class EngineBuilder {
 public:
  explicit EngineBuilder(const EngineOptions& options);
  ~EngineBuilder();
  EngineBuilder(const EngineBuilder&) = delete;
  EngineBuilder& operator=(const EngineBuilder&) = delete;

  // The loaded policy of the folder as it is now, with its engine. Code::policy_unavailable with the cause.
  Result<PolicyPtr> current(Deadline deadline);
  // Its engine closed a connection: the next current() starts another.
  static void report_lost(LoadedPolicy& policy);
  // A question to it was not answered in time: its engine is ended when it answers nothing else either.
  void report_unresponsive(const PolicyPtr& policy);
  // A round soon, for nobody in particular, that also looks whether the engine lives.
  void request_check();
  // The build under way ends, and none begins any more. A round that needs none still serves.
  void cancel() { cancelled_ = true; }
  const std::atomic<bool>& cancelled() const { return cancelled_; }
  // Without the members of EngineStatus that only options tell.
  EngineStatus status() const;
  OpaTool& tool() { return tool_; }

 private:
  using Lock = std::unique_lock<std::mutex>;
  void run();
  void request_round();
  Result<PolicyPtr> round(std::optional<std::chrono::milliseconds> health_timeout);
  Result<PolicyPtr> build(Snapshot snapshot);
  void health_check(LoadedPolicy& policy, std::optional<std::chrono::milliseconds> health_timeout);
  Result<std::optional<PolicyPtr>> wait_for_round(Lock& lock, Deadline deadline);
  std::optional<Result<PolicyPtr>> cached_result(const PolicyPtr& known) const;
  bool is_current(const LoadedPolicy& known) const;
  void report(const Result<PolicyPtr>& outcome);

  const EngineOptions options_;
  OpaTool tool_;
  net::ChildSpawner spawner_;
  std::atomic<bool> cancelled_ = false;
  std::optional<RunDir> run_dir_;           // the rest of this group is the thread's own
  std::optional<std::string> last_logged_;  // the cause in the log, until it is another

  mutable std::mutex mutex_;
  std::condition_variable requested_, ended_;
  bool closing_ = false;
  std::uint64_t wanted_ = 0, begun_ = 0, finished_ = 0;  // rounds, counted from 1
  std::optional<std::chrono::milliseconds>
      health_timeout_;                        // the next round asks the engine for a sign of life
  PolicyPtr current_;                         // what the last build made
  std::optional<Result<PolicyPtr>> outcome_;  // of the last round
  std::optional<Deadline> building_since_;
  std::thread thread_;  // started by the first request
};

}  // namespace dash::policy
