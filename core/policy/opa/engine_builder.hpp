// Keeps the loaded policy of a folder current. One thread reads the folder, checks it, starts the engine and
// ends the old one. Callers wait together for the build that serves them, each until its own deadline.
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

  // Returns the loaded policy of the folder as it is now, with its engine. Code::policy_unavailable with the
  // cause.
  Result<PolicyPtr> current(Deadline deadline);
  // Returns the loaded policy without a look at the folder; null when it may not be used before one. An answer under it
  // counts when is_current() held after the question came.
  PolicyPtr last_usable() const;
  // Returns whether the folder is surely the one that was loaded.
  bool is_current(const LoadedPolicy& known) const;
  // Reports that its engine closed a connection: the next current() starts another.
  static void report_lost(LoadedPolicy& policy);
  // Reports a request that got no response in time: the engine is ended when a health check also fails.
  void report_unresponsive(const PolicyPtr& policy);
  // Starts a round soon, without a waiting caller, that also checks that the engine is alive.
  void request_check();
  // Ends the build under way and prevents others. A round that needs no build still works.
  void cancel() { cancelled_ = true; }
  const std::atomic<bool>& cancelled() const { return cancelled_; }
  // Returns the status, without the members that only EngineOptions determine.
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
  void report(const Result<PolicyPtr>& outcome);

  const EngineOptions options_;
  OpaTool tool_;
  net::ChildSpawner spawner_;
  std::atomic<bool> cancelled_ = false;
  std::optional<RunDir> run_dir_;           // from here on: used by the thread alone
  std::optional<std::string> last_logged_;  // the last cause that was logged, to log it once

  mutable std::mutex mutex_;
  std::condition_variable requested_, ended_;
  bool closing_ = false;
  std::uint64_t wanted_ = 0, begun_ = 0, finished_ = 0;  // rounds, counted from 1
  // Set: the next round runs a health check of the engine.
  std::optional<std::chrono::milliseconds> health_timeout_;
  PolicyPtr current_;                         // the result of the last build
  std::optional<Result<PolicyPtr>> outcome_;  // of the last round
  std::optional<Deadline> building_since_;
  std::thread thread_;  // started by the first request
};

}  // namespace dash::policy
