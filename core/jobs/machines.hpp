// The machines that stand: what completed deploys made and nothing tore down since. Which of them a teardown
// means is decided in teardown.cpp.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/jobs/job.hpp"

namespace dash::jobs {

// What tells one machine from another.
struct Machine {
  std::optional<std::string> resource_id;
  std::string region, zone;  // folded
  bool operator==(const Machine&) const = default;
};
Machine machine_of(const Job& deploy);

// i- and hex digits, ocid1.…, /subscriptions/…, projects/…: `text` could be what that cloud calls a machine.
bool has_resource_id_form(std::string_view cloud, std::string_view text);

// The standing deploys whose resource id, or whose name, is `text`; the newest first.
enum class FindBy { resource_id, name };
Result<std::vector<Job>> existing_deploys(db::Transaction& tx, const std::string& action, FindBy by,
                                          const std::string& text);
// The teardown that removed what a deploy made; nullopt while it stands, and for an unknown deploy.
Result<std::optional<std::string>> destroyed_by(db::Transaction& tx, const std::string& deploy_id);
// Records that the teardown `by` removed what the deploy made, for every deploy of the same resource id
// there.
Result<void> mark_destroyed(db::Transaction& tx, const std::string& deploy_id, const std::string& by);

}  // namespace dash::jobs
