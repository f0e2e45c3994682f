// The infrastructure-as-code state at one place: which keys are state, and which locks the programs that
// write it hold there. Object stores have it at the bucket's root, beneath iac-state/ (or a Python
// dashboard's terraform-state/). For file systems it is in the instance's deploy folder. Thread-safe.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/storage/settings/stores.hpp"

namespace dash::storage {

// A backend and the settings to open it with.
struct BackendConfig {
  const Backend* backend = nullptr;  // nullptr: none is active
  const config::Values* values = nullptr;
};

inline constexpr std::uint64_t kMaxStateBytes = 64u << 20;  // of a state that is read as a whole

// A lock that a program holds on one state.
struct StateLock {
  std::string id;       // what unlock takes; empty where only a running program can end the lock
  std::string alias{};  // another id by which the holder's program knows the lock; may be empty
  std::string who;
  std::string operation;
  std::string created_at;       // as the holder wrote it, or from the store
  std::optional<Time> since{};  // nullopt: unknown
  // What was read: the etag of a lock object, the bytes of a lock file; empty for a lease.
  std::string seen{};
};

struct StateEntry {
  std::string job;
  Object object;       // its key is the state's
  bool exists = true;  // false: only a lock is there, of a program that runs for the first time
};

struct StateListing {
  std::vector<StateEntry> states;  // by key
  std::vector<Object> others;      // beside them: neither state nor lock
};

class StatePlace {
 public:
  // Opens the place. `deploy_folder` is absolute. Code::invalid for settings that open no store.
  static Result<StatePlace> open(const OpenStore& open, const BackendConfig& at, std::string deploy_folder);

  ObjectStore& store() const { return *store_; }
  bool is_file_system() const { return is_file_system_; }
  // Returns every state, and what lies beside it. Locks are neither.
  Result<StateListing> list() const;
  // Returns the lock on a state; nullopt when it is free. The state need not exist.
  Result<std::optional<StateLock>> find_lock(const std::string& key) const;
  // Ends the lock that find_lock() returned, and no other: Code::conflict when it was taken anew meanwhile, or
  // when a program that runs on this machine holds it; Code::not_found when it has ended.
  Result<void> release_lock(const std::string& key, const StateLock& lock) const;
  // Returns the bytes of an object. Code::too_large above kMaxStateBytes, Code::precondition when it was
  // replaced meanwhile.
  Result<std::string> read(const Object& object) const;
  // Returns the key as people know it: beneath the data folder for file systems.
  std::string shown_key(const std::string& key) const { return (is_file_system_ ? "deploy/" : "") + key; }
  // Returns the key under which this place has the state of a job. The state need not exist.
  std::string key_of(const std::string& job) const;
  // Returns what the store keeps of a state. Versioning is off for a file system.
  Result<VersionsResult> versions(const std::string& key) const;
  // Returns the key of a job's state: of the one that is here in either spelling, else of a new one.
  Result<std::string> find_key(const std::string& job) const;
  // How the programs that write state here lock it: by an object beside it (lock_key), a lease on it, or a
  // lock on the file in folder().
  enum class LockStyle { suffix, sibling, lease, folder };
  LockStyle lock_style() const { return style_; }
  std::string lock_key(const std::string& key) const;
  const std::string& folder() const { return folder_; }
  // Returns where this place has the object `key` of another place.
  std::string translated_key(std::string_view key) const;

 private:
  StatePlace() = default;
  bool is_lock(std::string_view key) const;
  bool is_state(std::string_view key) const;
  std::string job_of(std::string_view key) const;
  std::string state_key(const std::string& lock) const;
  Result<void> add_lone_locks(const std::vector<std::string>& locked, StateListing& found) const;
  std::vector<std::string> locked_folders() const;
  Result<std::optional<StateLock>> find_lock_object(const std::string& key) const;
  std::string lock_file(const std::string& key) const;
  Result<std::optional<StateLock>> find_lease(const std::string& key) const;
  Result<std::optional<StateLock>> find_file_lock(const std::string& key) const;

  std::shared_ptr<ObjectStore> store_;
  std::string folder_;
  std::string_view written_prefix_;
  std::string_view leaf_;
  std::string_view suffix_;  // of a lock object
  LockStyle style_ = LockStyle::suffix;
  bool is_file_system_ = false;
};

// Beside the state of a file system: who holds its lock.
inline constexpr std::string_view kLockInfoFile = ".terraform.tfstate.lock.info";

// Returns whether the key ends with the name of a state file.
bool is_state_key(std::string_view key);
// Reads the JSON that programs write into a lock. `fallback_id` is used for text that is none.
StateLock read_lock_info(std::string_view text, std::string fallback_id);

}  // namespace dash::storage
