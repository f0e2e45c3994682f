// The existing machines: made by completed deploys, or left by others in their state, and not torn down since. teardown.cpp decides which of
// them a teardown means.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/jobs/job.hpp"

namespace dash::jobs {

// The identity of a machine.
struct Machine {
  std::optional<std::string> resource_id;
  std::string region, zone;  // folded
  bool operator==(const Machine&) const = default;
};
Machine machine_of(const Job& deploy);

// Returns whether `text` can be that cloud's id of a machine: i- and hex digits, ocid1.…, /subscriptions/…,
// projects/….
bool has_resource_id_form(std::string_view cloud, std::string_view text);

// Finds the deploys of existing machines whose resource id, or whose name, is `text`; the newest first.
enum class FindBy { resource_id, name };
Result<std::vector<Job>> existing_deploys(db::Transaction& tx, const std::string& action, FindBy by,
                                          const std::string& text);
// Returns the teardown that removed the machine of a deploy; nullopt while it exists, and for an unknown
// deploy.
Result<std::optional<std::string>> destroyed_by(db::Transaction& tx, const std::string& deploy_id);
// Records that the teardown `by` removed the machine, for every deploy of the same resource id there.
Result<void> mark_destroyed(db::Transaction& tx, const std::string& deploy_id, const std::string& by);

}  // namespace dash::jobs
