// The ten gated actions: the kind of each, the members of a body that name its fields in either spelling, and
// the defaults of fields that are absent.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dash::jobs {

// A run of the automation runner over an asset: a job like the others that no rule gates.
inline constexpr std::string_view kAutomationRun = "config-mgmt:run";

enum class ActionKind { deploy, provision, teardown };

// What happens to a job whose worker died. Creating a machine twice costs money; removing it twice does not.
enum class OnWorkerLoss { fail, requeue };

struct Action {
  std::string_view name;   // canonical
  std::string_view cloud;  // "cloud1"; empty when the body names it
  ActionKind kind;
  bool approvable;  // one job of it can wait for an approval
  OnWorkerLoss on_worker_loss;
  std::string_view deploy_action;  // of a teardown: the action that made the machine
  std::vector<std::string_view> region, instance_type, image, name_members;  // canonical spelling first
  std::size_t max_name_length;  // of an expanded batch name; 0: no batch
};

std::span<const Action> actions();
// Returns the action of a canonical name; nullptr when it is not one of them.
const Action* find_action(std::string_view name);

// The defaults of a deploy, after the settings.
struct CloudDefaults {
  std::string_view cloud;
  std::string_view region_setting, region;
  std::string_view zone_setting, zone;
  std::string_view instance_type;
  std::string_view database_type;
  std::string_view node_type_setting, node_type;
};
// Returns the row of cloud1 for an unknown cloud.
const CloudDefaults& defaults_of(std::string_view cloud);

}  // namespace dash::jobs
