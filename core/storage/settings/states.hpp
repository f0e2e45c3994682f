// The infrastructure-as-code states on the active backend, for administrators: list, show, and end a lock
// that its holder left. Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/base/principal.hpp"
#include "core/storage/settings/state_document.hpp"
#include "core/storage/settings/state_place.hpp"

namespace dash::storage {

struct StateItem {
  StateEntry entry;
  std::string key;                        // as people know it
  std::optional<StateDocument> document;  // nullopt: no JSON of a state
  std::optional<StateLock> lock;
};

struct StateListResult {
  std::string backend;  // as this instance spells it
  std::vector<StateItem> items;
};

struct StateHistoryResult {
  std::string backend;  // as this instance spells it
  std::string job;
  std::string key;      // as people know it
  VersionsResult kept;  // without versions where versioning was never on
  bool is_object_store = true;
};

class States {
 public:
  struct Deps {
    Stores& stores;
    config::Settings& settings;
    OpenStore open;
    db::Sql& sql;
    audit::Log& audit;
    const Clock& clock;
    std::string deploy_folder;  // absolute
  };
  explicit States(Deps deps) : deps_(std::move(deps)) {}

  Result<StateListResult> list(const Principal& principal);
  // Code::not_found for a job without state.
  Result<StateListResult> show(const Principal& principal, const std::string& job);
  // Returns the versions that the store keeps of a state; it may be deleted by now. Code::not_found for a job
  // without any.
  Result<StateHistoryResult> history(const Principal& principal, const std::string& job);
  // Ends the lock with this id; audited. Code::not_found without a lock, Code::conflict when it has another
  // id, or while the job that holds it runs.
  Result<void> unlock(const Principal& principal, const std::string& job, const std::string& id);

 private:
  struct ActivePlace {
    config::SnapshotPtr settings;
    std::string backend;
    StatePlace place;
  };
  struct JobState {
    ActivePlace active;
    StateEntry entry;
  };
  Result<ActivePlace> active_place();
  Result<JobState> find(const Principal& principal, const std::string& job);
  Result<StateHistoryResult> read_history(const ActivePlace& active, const std::string& job,
                                          const std::string& key) const;
  Result<StateItem> read_item(const StatePlace& place, StateEntry entry) const;
  Result<void> check_holder(const std::string& job);
  Deps deps_;
};

OrderedJson to_json(const StateListResult& result);    // of list()
OrderedJson show_json(const StateListResult& result);  // of show()
OrderedJson to_json(const StateHistoryResult& result);

}  // namespace dash::storage
