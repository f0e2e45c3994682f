// The rule about live infrastructure state. A change of settings that moves the active backend away from the
// state of deployments is refused, unless the request confirms to copy the state, or to abandon it where the
// store cannot be reached. Calls the stores. Thread-safe.
#pragma once
#include <functional>

#include "core/setup/rules.hpp"
#include "core/storage/settings/iac_state.hpp"

namespace dash::setup {

// What the caller confirms.
struct StateOptions {
  bool migrate = false;
  bool abandon = false;
  std::vector<std::string> overwrite = {};  // jobs whose state at the target may be replaced by a copy
};

// Returns the query that sends these options to an instance: "?migrate_iac_state=true&…", or "".
std::string state_query(const StateOptions& options);

// What a change does to the state.
struct StateEffect {
  bool leaves = false;  // the active backend is another one afterwards
  bool copies = false;
  bool abandons = false;
};

struct StateAssessment {
  StateEffect move;
  RuleResult refusal;
};

// Keeps deploys and destroys from beginning, and returns those that run.
using BeginSwitch = std::function<Result<std::vector<std::string>>()>;

class LiveState {
 public:
  explicit LiveState(storage::IacState& state) : state_(state) {}

  // Returns whether the setting decides where state is stored: inputs with the same ones have the same
  // assessment.
  static bool decides(std::string_view key);
  // Returns those settings as they are after the changes.
  static config::Values deciding(const config::Values& before, const config::Changes& changes);

  // Calls `begin_switch` before it looks at any state, where the change moves the active backend away.
  Result<StateAssessment> assess(const RuleInput& input, const StateOptions& options,
                                 const BeginSwitch& begin_switch) const;
  Result<storage::StateCopyResult> copy(const RuleInput& input, const StateOptions& options) const;
  Result<std::vector<std::string>> running_jobs(db::Transaction& tx) const { return state_.running_jobs(tx); }

 private:
  Result<bool> moves_away(const storage::BackendConfig& from, const storage::BackendConfig& to) const;
  // Refusals of a state that is there: locks, and what the target has. nullopt: a copy would succeed.
  Result<std::optional<StateAssessment>> find_obstacle(const RuleInput& input,
                                                       const StateOptions& options) const;
  StateAssessment refuse(const RuleInput& input, Code code, std::string message) const;
  std::vector<std::string> responsible_keys(const RuleInput& input) const;
  storage::IacState& state_;
};

}  // namespace dash::setup
