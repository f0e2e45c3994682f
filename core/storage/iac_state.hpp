// The state that infrastructure as code keeps on the active backend (2-storage.md, Switching the active
// backend): object stores hold it at the bucket's root, beneath iac-state/ (a peer's terraform-state/ as
// well); for file systems it lies in the instance's deploy folder. Only probes and copies; Configuration
// decides. Thread-safe.
#pragma once
#include <string>

#include "core/base/part_pool.hpp"
#include "core/db/sql.hpp"
#include "core/storage/stores.hpp"

namespace dash::storage {

// A backend with the settings that it is opened with.
struct Seat {
  const Backend* backend = nullptr;  // nullptr: none is active
  const config::Values* values = nullptr;
};

class IacState {
 public:
  struct Seams {
    db::Sql& sql;
    PartPool& parts;
    std::string deploy_folder;  // absolute
  };
  IacState(OpenStore open, Seams seams) : open_(std::move(open)), seams_(std::move(seams)) {}

  // Whether state kept at `from` is looked for elsewhere once `to` is active: another backend, bucket or
  // endpoint. The two file systems share one place.
  bool is_elsewhere(const Seat& from, const Seat& to) const;
  // Whether anything but locks lies there. When the store cannot be asked: Code::upstream if this instance
  // knows of a finished deploy, else false.
  Result<bool> holds(const Seat& at) const;
  // Every object but locks, renamed to what the target's engine looks for; the originals stay. How many.
  // Code::upstream when one cannot be copied.
  Result<std::int64_t> copy(const Seat& from, const Seat& to) const;

 private:
  Result<std::shared_ptr<ObjectStore>> store_of(const Seat& at) const;
  Result<std::vector<Object>> list(ObjectStore& store, const Seat& at) const;
  Result<bool> has_finished_deploys() const;
  OpenStore open_;
  Seams seams_;
};

}  // namespace dash::storage
