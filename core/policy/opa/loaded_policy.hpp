// One state of the policy directory and the engine that serves it, or the reason why there is none. Immutable
// but for the stamps of its files. Requests share it, and the last one to release it ends the engine.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>

#include "core/policy/engine.hpp"
#include "core/policy/opa/engine_socket.hpp"
#include "core/policy/opa/opa_tool.hpp"

namespace dash::policy {

// The stamps under which the files of a loaded policy were last found.
struct FileStamps {
  Fingerprint stamps;
  bool settled;  // equal stamps prove equal bytes
};

struct LoadedPolicy {
  explicit LoadedPolicy(Snapshot s) : snapshot(std::move(s)) { set_file_stamps(snapshot); }
  ~LoadedPolicy();
  LoadedPolicy(const LoadedPolicy&) = delete;
  LoadedPolicy& operator=(const LoadedPolicy&) = delete;

  const Snapshot snapshot;
  std::shared_ptr<const RuleSet> rules;  // null when broken
  std::optional<Problem> fault;          // of the files: stays until they change
  std::optional<Error> failure;          // of the engine: a later build tries again
  Deadline retry_at{};                   // not before this instant
  std::atomic<bool> is_lost = false;     // its engine ran, and is gone
  std::string folder, sockets;           // the engine's files, and its socket
  net::Child child;
  std::unique_ptr<EngineSocket> socket;

  std::shared_ptr<const FileStamps> file_stamps() const {
    std::lock_guard lock(file_stamps_mutex_);
    return file_stamps_;
  }
  void set_file_stamps(const Snapshot& again) {
    auto next = std::make_shared<const FileStamps>(again.stamps, again.settled);
    std::lock_guard lock(file_stamps_mutex_);
    file_stamps_ = std::move(next);
  }

 private:
  mutable std::mutex file_stamps_mutex_;
  std::shared_ptr<const FileStamps> file_stamps_;
};

// Returns "a.rego:3: unexpected } token", the form of a fault in the log and in audit entries.
std::string describe(const Problem& problem);

// How long a failed build is remembered: its callers share one cause, and none of them starts the next build.
inline constexpr std::chrono::seconds kFailureRetryDelay{1};

// When a build is given up and the process groups that it started are killed.
struct BuildLimits {
  std::chrono::milliseconds timeout;
  const std::atomic<bool>& cancelled;
};

// Checks, parses and starts. Never fails: the result holds what is wrong.
std::shared_ptr<LoadedPolicy> load_policy(Snapshot snapshot, RunDir& run, OpaTool& tool,
                                          net::ChildSpawner& spawner, const BuildLimits& limits);

}  // namespace dash::policy
