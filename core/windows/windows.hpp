// The change windows of an instance: stored, listed, edited, and attached to workgroups. The shapes are those
// of the deployed dashboards (docs/compatibility.md).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/db/versioned_cache.hpp"
#include "core/windows/window.hpp"

namespace dash::windows {

// What the gate asks of the workgroup of a change.
struct WorkgroupRule {
  bool exists = false;
  std::optional<std::string> window_id{};  // of the window inside of which its resources may be changed
  std::optional<Window> window{};          // nullopt beside an id: it no longer exists
};

class Windows {
 public:
  Windows(db::Sql& sql, const Clock& clock, audit::Log& audit) : sql_(sql), clock_(clock), audit_(audit) {}

  // Returns all, sorted by name. Every signed-in user may read them.
  Result<std::vector<Window>> list();
  Result<std::optional<Window>> find(db::Transaction& tx, const std::string& id);
  Result<WorkgroupRule> rule_of(db::Transaction& tx, const std::string& workgroup);
  // The same out of a cache, until a workgroup or a window changes.
  Result<std::shared_ptr<const WorkgroupRule>> rule_of(const std::string& workgroup);

  // The functions below need change_windows:write and are audited.
  // `body`: {name, start_at_local, duration_minutes, description?, timezone?, schedule_days?, enabled?}.
  // Code::conflict for a name that is taken.
  Result<Window> create(const Principal& principal, const Json& body);
  // Changes only the members that `body` has. Scheduled jobs keep their times.
  Result<Window> update(const Principal& principal, const std::string& id, const Json& body);
  // Code::conflict while a workgroup uses it, or a job that has not ended is scheduled into it.
  Result<void> remove(const Principal& principal, const std::string& id);

  Result<std::vector<std::string>> warnings_of(const Window& window);
  const Clock& clock() const { return clock_; }

 private:
  Result<void> save(db::Transaction& tx, const Window& window);
  db::Sql& sql_;
  const Clock& clock_;
  audit::Log& audit_;
  db::VersionedCache<WorkgroupRule> rules_;
};

// {id, name, …, summary}, and next_start, next_end of an enabled window.
Result<OrderedJson> to_json(const Window& window, Time now);

}  // namespace dash::windows
