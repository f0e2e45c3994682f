// The state that infrastructure as code keeps on the active backend (2-storage.md, Switching the active
// backend): object stores hold it at the bucket's root, beneath iac-state/ (a peer's terraform-state/ as
// well); for file systems it lies in the instance's deploy folder. Only probes and copies;
// core/setup decides. Thread-safe.
#pragma once
#include <string>
#include <vector>

#include "core/base/part_pool.hpp"
#include "core/db/sql.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::storage {

// A backend with the settings that it is opened with.
struct Seat {
  const Backend* backend = nullptr;  // nullptr: none is active
  const config::Values* values = nullptr;
};

// What is known of the state at a place.
enum class Holding { nothing, state, unknown };
struct Held {
  Holding what = Holding::nothing;
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
  struct Seams {
    db::Sql& sql;
    PartPool& parts;
    std::string deploy_folder;  // absolute
  };
  IacState(OpenStore open, Seams seams) : open_(std::move(open)), seams_(std::move(seams)) {}

  // Whether state kept at `from` is looked for elsewhere once `to` is active. The two file systems share one
  // place.
  Distance distance(const Seat& from, const Seat& to) const;
  // Whether anything but locks lies there. A store that cannot be asked is unknown; settings that open no
  // store, and a bucket that is not there, are so only if this instance knows of a standing deploy.
  Result<Held> holds(const Seat& at) const;
  // Whether the state at `from` is found through `to`: each of its objects, or, when `from` cannot be asked,
  // the state of each standing deploy.
  Result<bool> finds_all(const Seat& from, const Seat& to) const;
  // A deploy or destroy that runs now, which writes its state where it was when it began; "" for none.
  Result<std::string> running_job(db::Transaction& tx) const;
  // Every object but locks, renamed to what the target's engine looks for; the originals stay. How many.
  // Code::upstream when one cannot be copied.
  Result<std::int64_t> copy(const Seat& from, const Seat& to) const;

 private:
  Result<std::shared_ptr<ObjectStore>> store_of(const Seat& at) const;
  Result<std::vector<Object>> list(ObjectStore& store, const Seat& at) const;
  Result<std::vector<std::string>> standing_deploys() const;
  OpenStore open_;
  Seams seams_;
};

}  // namespace dash::storage
