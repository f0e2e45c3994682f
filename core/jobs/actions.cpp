#include "core/jobs/actions.hpp"

#include <algorithm>

namespace dash::jobs {
namespace {

Action destroy(std::string_view name, std::string_view cloud, std::string_view deploys) {
  return {name, cloud, ActionKind::teardown, false, OnWorkerLoss::requeue, deploys, {}, {}, {}, {}, 0};
}

Action provision(std::string_view name, std::vector<std::string_view> instance_type) {
  return {name,
          "",
          ActionKind::provision,
          false,
          OnWorkerLoss::fail,
          "",
          {"region", "location"},
          std::move(instance_type),
          {"image"},
          {"name"},
          0};
}

// The clouds' own limits of a machine's name: EC2 tag, Windows computer name, RFC 1035 label, OCI display
// name.
const std::vector<Action>& action_rows() {
  static const std::vector<Action> kActions = {
      {"cloud1:vm:deploy",
       "cloud1",
       ActionKind::deploy,
       true,
       OnWorkerLoss::fail,
       "",
       {"region"},
       {"instance_type"},
       {"image", "ami_id"},
       {"name", "instance_name"},
       255},
      {"cloud2:vm:deploy",
       "cloud2",
       ActionKind::deploy,
       true,
       OnWorkerLoss::fail,
       "",
       {"region", "location"},
       {"instance_type", "vm_size"},
       {"image", "image_id"},
       {"name", "vm_name"},
       15},
      {"cloud3:vm:deploy",
       "cloud3",
       ActionKind::deploy,
       true,
       OnWorkerLoss::fail,
       "",
       {"region"},
       {"instance_type", "machine_type"},
       {"image", "image_self_link"},
       {"name", "instance_name"},
       63},
      {"cloud4:compute:deploy",
       "cloud4",
       ActionKind::deploy,
       true,
       OnWorkerLoss::fail,
       "",
       {"region"},
       {"instance_type", "shape"},
       {"image", "image_ocid"},
       {"name", "instance_name"},
       255},
      provision("clouddb:provision", {"instance_type", "instance_class", "tier", "sku_name"}),
      provision("k8s:provision", {"instance_type", "node_instance_type"}),
      destroy("cloud1:vm:destroy", "cloud1", "cloud1:vm:deploy"),
      destroy("cloud2:vm:destroy", "cloud2", "cloud2:vm:deploy"),
      destroy("cloud3:vm:destroy", "cloud3", "cloud3:vm:deploy"),
      destroy("cloud4:compute:destroy", "cloud4", "cloud4:compute:deploy"),
  };
  return kActions;
}

constexpr CloudDefaults kDefaults[] = {
    {"cloud1", "cloud1_region", "us-east-2", "", "", "t3.medium", "db.t3.micro",
     "cloud1_eks_node_instance_type", "t3.medium"},
    {"cloud2", "cloud2_location", "centralus", "", "", "Standard_B2s", "Standard_B1ms",
     "cloud2_aks_node_vm_size", "Standard_B2s"},
    {"cloud3", "cloud3_region", "us-central1", "cloud3_zone", "us-central1-a", "e2-medium", "db-f1-micro", "",
     "e2-medium"},
    {"cloud4", "cloud4_region", "us-ashburn-1", "", "", "VM.Standard.E2.1.Micro", "MySQL.Free",
     "cloud4_oke_node_shape", "VM.Standard.E4.Flex"},
};

}  // namespace

std::span<const Action> actions() { return action_rows(); }

const Action* find_action(std::string_view name) {
  auto found = std::ranges::find(action_rows(), name, &Action::name);
  return found == action_rows().end() ? nullptr : &*found;
}

const CloudDefaults& defaults_of(std::string_view cloud) {
  auto found = std::ranges::find(kDefaults, cloud, &CloudDefaults::cloud);
  return found == std::end(kDefaults) ? kDefaults[0] : *found;
}

}  // namespace dash::jobs
