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

// What a probe found.
enum class StatePresence { nothing, state, unknown };
struct StateProbeResult {
  StatePresence presence = StatePresence::nothing;
  std::string why;  // for unknown: the store's message
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
    std::string deploy_folder;  // absolute
  };
  IacState(OpenStore open, Deps deps) : open_(std::move(open)), deps_(std::move(deps)) {}

  // Returns whether state at `from` becomes invisible once `to` is active. The two file systems share one
  // place.
  Distance distance(const BackendConfig& from, const BackendConfig& to) const;
  // Checks for anything but locks. A store that cannot be reached is unknown. Settings that open no store,
  // and a missing bucket, are unknown only if this instance has a record of a deploy that still exists.
  Result<StateProbeResult> probe(const BackendConfig& at) const;
  // Returns whether the state of `from` is found through `to`: each of its objects, or, when `from` cannot be
  // reached, the state of each existing deploy.
  Result<bool> contains_all(const BackendConfig& from, const BackendConfig& to) const;
  // Returns a deploy or destroy that runs now and will write its state to the old place; "" for none.
  Result<std::string> running_job(db::Transaction& tx) const;
  // Copies every object but locks, renamed to what the target's engine looks for. The originals stay. Returns
  // how many. Code::upstream when one cannot be copied.
  Result<std::int64_t> copy(const BackendConfig& from, const BackendConfig& to) const;

 private:
  Result<std::shared_ptr<ObjectStore>> store_of(const BackendConfig& at) const;
  Result<StatePlace> place_of(const BackendConfig& at) const;
  Result<std::vector<Object>> list(const BackendConfig& at) const;
  Result<std::vector<std::string>> existing_deploys() const;
  OpenStore open_;
  Deps deps_;
};

}  // namespace dash::storage
