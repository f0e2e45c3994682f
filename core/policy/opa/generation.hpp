// One state of the policy directory and the engine that serves it, or the reason why none can. Immutable but
// for how its files were last seen, and shared by the requests that it judges: the last one to let go ends
// the engine.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>

#include "core/policy/engine.hpp"
#include "core/policy/opa/engine_socket.hpp"
#include "core/policy/opa/opa_tool.hpp"

namespace dash::policy {

// The stamps under which the files of a generation were last found.
struct Sight {
  Fingerprint stamps;
  bool settled;  // equal stamps prove equal bytes
};

struct Generation {
  explicit Generation(Snapshot s) : snapshot(std::move(s)) { see(snapshot); }
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  const Snapshot snapshot;
  std::shared_ptr<const RuleSet> rules;  // null when broken
  std::optional<Problem> fault;          // of the files: stays until they change
  std::optional<Error> failure;          // of the engine: tried again
  Deadline retry_at{};                   // not before this instant
  std::atomic<bool> is_lost = false;     // its engine ran, and is gone
  std::string folder, sockets;           // what the engine reads, and where it listens
  net::Child child;
  std::unique_ptr<EngineSocket> socket;

  std::shared_ptr<const Sight> sight() const {
    std::lock_guard lock(sight_mutex_);
    return sight_;
  }
  void see(const Snapshot& again) {
    auto next = std::make_shared<const Sight>(again.stamps, again.settled);
    std::lock_guard lock(sight_mutex_);
    sight_ = std::move(next);
  }

 private:
  mutable std::mutex sight_mutex_;
  std::shared_ptr<const Sight> sight_;
};

// "a.rego:3: unexpected } token", the form in which a fault is logged and audited.
std::string describe(const Problem& problem);

// A failed build is remembered so long: its callers share one cause, and none of them starts the next.
inline constexpr std::chrono::seconds kFailureMemory{1};

// When a build is given up and what it started is killed, process groups whole.
struct BuildLimits {
  std::chrono::milliseconds timeout;
  const std::atomic<bool>& cancelled;
};

// Checks, parses and starts. Never fails: what is wrong is in the generation.
std::shared_ptr<Generation> start_generation(Snapshot snapshot, RunDir& run, OpaTool& tool,
                                             net::Nursery& nursery, const BuildLimits& limits);

}  // namespace dash::policy
