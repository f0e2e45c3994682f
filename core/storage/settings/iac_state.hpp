// The state that infrastructure as code keeps on the active backend. Object stores hold it at the
// bucket's root, beneath iac-state/ (or a Python dashboard's terraform-state/). For file systems it is in the
// instance's deploy folder. Only probes and copies; core/setup decides. Thread-safe.
#pragma once
#include <string>
#include <vector>

#include "core/base/buffer_pool.hpp"
#include "core/db/sql.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::storage {

// A backend with the settings that it is opened with.
struct BackendConfig {
  const Backend* backend = nullptr;  // nullptr: none is active
  const config::Values* values = nullptr;
};

// What is known of the state at a place.
enum class StatePresence { nothing, state, unknown };
struct StateProbeResult {
  StatePresence presence = StatePresence::nothing;
  std::string why;  // of unknown: what the store said
};

// How far apart two places are.
enum class Distance {
  none,
  other_endpoint,  // the same bucket by name, reached by another address
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

  // Whether state kept at `from` is looked for elsewhere once `to` is active. The two file systems share one
  // place.
  Distance distance(const BackendConfig& from, const BackendConfig& to) const;
  // Whether anything but locks lies there. A store that cannot be asked is unknown; settings that open no
  // store, and a bucket that is not there, are so only if this instance knows of a standing deploy.
  Result<StateProbeResult> probe(const BackendConfig& at) const;
  // Whether the state at `from` is found through `to`: each of its objects, or, when `from` cannot be asked,
  // the state of each standing deploy.
  Result<bool> contains_all(const BackendConfig& from, const BackendConfig& to) const;
  // A deploy or destroy that runs now, which writes its state where it was when it began; "" for none.
  Result<std::string> running_job(db::Transaction& tx) const;
  // Every object but locks, renamed to what the target's engine looks for; the originals stay. How many.
  // Code::upstream when one cannot be copied.
  Result<std::int64_t> copy(const BackendConfig& from, const BackendConfig& to) const;

 private:
  Result<std::shared_ptr<ObjectStore>> store_of(const BackendConfig& at) const;
  Result<std::vector<Object>> list(ObjectStore& store, const BackendConfig& at) const;
  Result<std::vector<std::string>> existing_deploys() const;
  OpenStore open_;
  Deps deps_;
};

}  // namespace dash::storage
