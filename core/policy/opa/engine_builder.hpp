// Keeps the loaded policy of a folder current: one thread reads the folder, checks it, starts the engine and
// ends the old one. Callers wait together for the round that serves them, each until its own deadline.
// Thread-safe.
#pragma once
#include <condition_variable>
#include <thread>

#include "core/policy/opa/generation.hpp"

namespace dash::policy {

using Current = std::shared_ptr<Generation>;

class EngineBuilder {
 public:
  explicit EngineBuilder(const EngineOptions& options);
  ~EngineBuilder();
  EngineBuilder(const EngineBuilder&) = delete;
  EngineBuilder& operator=(const EngineBuilder&) = delete;

  // The loaded policy of the folder as it is now, with its engine. Code::policy_unavailable with the cause.
  Result<Current> current(Deadline deadline);
  // Its engine closed a connection: the next current() starts another.
  static void report_lost(Generation& generation);
  // A question to it was not answered in time: its engine is ended when it answers nothing else either.
  void report_silent(const Current& generation);
  // A round soon, for nobody in particular, that also looks whether the engine lives.
  void look();
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
  Result<Current> round(std::optional<std::chrono::milliseconds> pulse);
  Result<Current> build(Snapshot snapshot);
  void check_life(Generation& generation, std::optional<std::chrono::milliseconds> pulse);
  Result<std::optional<Current>> wait_for_round(Lock& lock, Deadline deadline);
  std::optional<Result<Current>> known_answer(const Current& known) const;
  bool is_as_seen(const Generation& known) const;
  void report(const Result<Current>& outcome);

  const EngineOptions options_;
  OpaTool tool_;
  net::Nursery nursery_;
  std::atomic<bool> cancelled_ = false;
  std::optional<RunDir> run_dir_;        // the rest of this group is the thread's own
  std::optional<std::string> reported_;  // the cause in the log, until it is another

  mutable std::mutex mutex_;
  std::condition_variable requested_, ended_;
  bool closing_ = false;
  std::uint64_t wanted_ = 0, begun_ = 0, finished_ = 0;  // rounds, counted from 1
  std::optional<std::chrono::milliseconds> pulse_;       // the next round asks the engine for a sign of life
  Current current_;                                      // what the last build made
  std::optional<Result<Current>> outcome_;               // of the last round
  std::optional<Deadline> building_since_;
  std::thread thread_;  // started by the first request
};

}  // namespace dash::policy
