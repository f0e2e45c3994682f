// One state that this process reads and writes itself, under the lock that the programs which use the store
// natively respect: somebody who runs such a program by hand is kept out, and keeps us out. One thread at a
// time uses it.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/storage/settings/state_place.hpp"

namespace dash::storage {

class LockedState {
 public:
  // `job` is the one whose state it is.
  static Result<std::unique_ptr<LockedState>> open(StatePlace place, const std::string& job);
  virtual ~LockedState() = default;

  // Returns the bytes; empty when there is no state.
  virtual Result<std::string> read() const = 0;
  // Takes the lock. `info` is the JSON that programs write into a lock, with the member ID. Returns who holds
  // it otherwise.
  virtual Result<std::optional<StateLock>> lock(const std::string& info) = 0;
  // Goes on with a lock that another process of ours took, and whose program has ended. Returns false when the
  // state is not locked under this ID.
  virtual Result<bool> adopt(const std::string& id) = 0;
  // Ends our lock. Code::conflict when it is not ours any more.
  virtual Result<void> unlock() = 0;
  // Replaces the state and reads it back. Code::conflict when the lock is not ours (any more), Code::integrity
  // when other bytes are read back.
  virtual Result<void> write(std::string_view bytes) = 0;

  // The ID of the lock that this object took; empty without one.
  const std::string& lock_id() const { return lock_id_; }
  const StatePlace& place() const { return place_; }
  std::string shown_key() const { return place_.shown_key(key_); }
  Result<std::optional<StateLock>> holder() const { return place_.find_lock(key_); }

 protected:
  LockedState(StatePlace place, std::string key) : place_(std::move(place)), key_(std::move(key)) {}
  Result<void> check_written(std::string_view bytes) const;

  const StatePlace place_;
  const std::string key_;
  std::string lock_id_;
};

}  // namespace dash::storage
