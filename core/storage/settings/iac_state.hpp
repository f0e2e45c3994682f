// The infrastructure-as-code state on the active backend. Object stores have it at the bucket's root, beneath
// iac-state/ (or a Python dashboard's terraform-state/). For file systems it is in the instance's deploy
// folder. This class only probes and copies; core/setup decides. Thread-safe.
#pragma once
#include <string>
#include <vector>

#include "core/base/buffer_pool.hpp"
#include "core/db/sql.hpp"
#include "core/storage/settings/state_place.hpp"

namespace dash::storage {

// A lock that is held on the state of a job.
struct HeldLock {
  std::string job;
  StateLock lock;
  std::string age;  // "2 h 5 min"; empty: unknown
};

// What a probe found.
enum class StatePresence { nothing, state, unknown };
struct StateProbeResult {
  StatePresence presence = StatePresence::nothing;
  std::string why;              // for unknown: the store's message
  std::vector<HeldLock> locks;  // those of a first run included, which has no state yet
};

// What stands at the target against a copy.
struct StateConflict {
  std::string job;
  std::string key;
  std::string why;
};
struct TargetCheck {
  std::vector<HeldLock> locks;
  std::vector<StateConflict> conflicts;
};

// An original that a copy left behind.
struct LeftState {
  std::string backend;
  std::string key;
};
OrderedJson to_json(const std::vector<LeftState>& left);  // [{backend, key}]
// Reads the member iac_state_left of an instance's answer; what has another shape is left out.
std::vector<LeftState> left_states_in(const Json& answer);
struct StateCopyResult {
  std::int64_t copied = 0;
  std::vector<LeftState> left;  // as this instance spells the backend
};

// How two places relate.
enum class Distance {
  none,
  other_endpoint,  // the same bucket by name, through another address
  elsewhere,
};

class IacState {
 public:
  struct Deps {
    db::Sql& sql;
    BufferPool& buffers;
    const Clock& clock;
    std::string deploy_folder;  // absolute
  };
  IacState(OpenStore open, Deps deps) : open_(std::move(open)), deps_(std::move(deps)) {}

  // Returns whether state at `from` becomes invisible once `to` is active. The two file systems share one
  // place.
  Distance distance(const BackendConfig& from, const BackendConfig& to) const;
  // Checks for state and for locks. A store that cannot be reached is unknown. Settings that open no store,
  // and a missing bucket, are unknown only if this instance has a record of a deploy that still exists.
  Result<StateProbeResult> probe(const BackendConfig& at) const;
  // Returns whether the state of `from` is found through `to`: each of its objects, or, when `from` cannot be
  // reached, the state of each existing deploy.
  Result<bool> contains_all(const BackendConfig& from, const BackendConfig& to) const;
  // Returns the deploys and destroys that run now and will write their state to the old place.
  Result<std::vector<std::string>> running_jobs(db::Transaction& tx) const;
  // Compares the states of `from` with what `to` has.
  Result<TargetCheck> check_target(const BackendConfig& from, const BackendConfig& to) const;
  // Copies every object but locks, renamed to what the target's engine looks for, and reads the copies back.
  // The originals stay. A state of the target that could be newer is replaced only for a job of `overwrite`.
  // Code::conflict for another one, for a lock, and for a state that changed meanwhile; Code::upstream when
  // one cannot be copied.
  Result<StateCopyResult> copy(const BackendConfig& from, const BackendConfig& to,
                               const std::vector<std::string>& overwrite) const;

 private:
  Result<StatePlace> place_of(const BackendConfig& at) const;
  Result<std::vector<Object>> list(const BackendConfig& at) const;
  Result<std::optional<HeldLock>> lock_on(const StatePlace& place, const std::string& job,
                                          const std::string& key) const;
  Result<StateProbeResult> look(const BackendConfig& at) const;
  Result<StateCopyResult> copy_checked(const BackendConfig& from, const BackendConfig& to,
                                       const std::vector<std::string>& overwrite) const;
  Result<std::vector<std::string>> existing_deploys() const;
  OpenStore open_;
  Deps deps_;
};

}  // namespace dash::storage
