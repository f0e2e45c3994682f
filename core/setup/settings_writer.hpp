// The one function that changes settings, for every caller: the storage page, PUT /api/setup/config, the
// command line, an import, a claim, a rollback and the panels. It runs every rule (rules.hpp, live_state.hpp)
// over the values as they will be, then writes all in one transaction together with its audit entry.
// Thread-safe.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "core/audit/log.hpp"
#include "core/base/principal.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/jobs/switch_lease.hpp"
#include "core/setup/live_state.hpp"

namespace dash::setup {

struct WriteResult {
  config::Values before;
  config::Changes changes;                     // those that were written
  std::map<std::string, std::string> refused;  // canonical key → reason word
  std::string change_id;                       // empty when nothing differed
  std::int64_t iac_state_migrated = 0;
  std::vector<storage::LeftState> iac_state_left = {};  // the originals of the copies
};

struct WriteRequest {
  const Principal& principal;
  std::string origin;  // for the history
  StateOptions state = {};
  bool omits_refused = false;  // a refused key is left out and the rest written; else the first refusal fails
  // Returns the changes, canonical, region sets whole. Called again inside of the transaction that writes.
  std::function<Result<config::Changes>(db::Transaction&, const config::Values& stored)> make = {};
  // Called first and last in that transaction. A failure undoes everything.
  std::function<Result<void>(db::Transaction&)> begin = {};
  std::function<Result<void>(db::Transaction&, const WriteResult&)> record = {};
};

class SettingsWriter {
 public:
  struct Deps {
    db::Sql& sql;
    const Clock& clock;
    config::EncryptedStore& store;
    audit::Log& audit;
    storage::IacState& state;
    const storage::local::RootRules& roots;
  };
  explicit SettingsWriter(Deps deps)
      : sql_(deps.sql),
        clock_(deps.clock),
        store_(deps.store),
        audit_(deps.audit),
        rules_(settings_rules(deps.roots)),
        state_(deps.state) {}

  // Code::invalid for an unconfigured backend, hub or runner; Code::conflict for live state, while another
  // switch of the active backend runs, and for automation without storage; Code::forbidden when a token abandons state. May call both stores.
  Result<WriteResult> write(const WriteRequest& request);

 private:
  struct WritePlan {
    config::Values before;
    config::Changes changes;
    std::map<std::string, std::string> refused;
    StateEffect move;
    storage::StateCopyResult state;
    std::unique_ptr<jobs::SwitchLease> lease;  // from before the first look at the state until it is written
  };
  Result<WritePlan> plan(const WriteRequest& request);
  Result<StateAssessment> assess_state(const RuleInput& input, const WriteRequest& request, WritePlan& plan);
  Result<void> apply_rules(WritePlan& plan, const WriteRequest& request, bool checks_stores);
  Result<WriteResult> write(db::Transaction& tx, const WriteRequest& request, const WritePlan& plan,
                            bool& is_stale);
  Result<void> record_abandon(db::Transaction& tx, const WriteRequest& request, const WriteResult& result);

  db::Sql& sql_;
  const Clock& clock_;
  config::EncryptedStore& store_;
  audit::Log& audit_;
  std::vector<Rule> rules_;
  LiveState state_;
};

}  // namespace dash::setup
