#include "core/jobs/teardown.hpp"

#include <algorithm>

#include "core/base/fields.hpp"
#include "core/base/shape.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/jobs/location.hpp"
#include "core/jobs/machines.hpp"

namespace dash::jobs {
namespace {

constexpr std::size_t kMaxTargetBytes = 512;   // an OCID has 255
constexpr std::size_t kMaxNamedMachines = 10;  // listed in a refusal

// Every fault is Code::validation: a location that selects nothing must not count as none.
Result<Location> location_of(const Action& action, const Json& query) {
  const auto* deploy = find_action(action.deploy_action);
  auto typed = TRY(parse_location(*deploy, action.cloud, query));
  if (typed.zone.empty()) typed.zone = TRY(aliased_text_field(query, {"zone"}));
  auto place = normalize_location(action.cloud, typed);
  if (place || place.error().code != Code::invalid) return place;
  bool is_zone = !normalize_location(action.cloud, {"", typed.zone});
  return wrong_value(is_zone ? "zone" : "region", place.error().message);
}

// Returns the machines that the target may mean, limited by the location of the request.
Result<std::vector<Job>> candidates(db::Transaction& tx, const Action& action, const std::string& target,
                                    const Location& place) {
  std::string deploys(action.deploy_action);
  auto out = TRY(existing_deploys(tx, deploys, FindBy::resource_id, target));
  if (out.empty()) {
    out = TRY(existing_deploys(tx, deploys, FindBy::name, target));
    // A machine whose name looks like a resource id (older releases allowed that) is found only when its own
    // id is known.
    if (has_resource_id_form(action.cloud, target))
      std::erase_if(out, [](const Job& job) { return !job.resource_id; });
  }
  std::erase_if(out, [&](const Job& job) {
    auto machine = machine_of(job);
    return (!place.region.empty() && machine.region != place.region) ||
           (!place.zone.empty() && machine.zone != place.zone);
  });
  return out;
}

Result<void> check_can_tear_down(const Principal& principal, const std::vector<Job>& deploys) {
  auto is_own = [&](const Job& job) { return job.workgroup && principal.is_member_of(*job.workgroup); };
  if (principal.is_admin || (!deploys.empty() && std::ranges::all_of(deploys, is_own))) return {};
  return fail(Code::forbidden,
              "only admins and members of the workgroup that deployed it may remove this resource; if you "
              "mean a machine of your own, give its resource id, or its zone or region");
}

std::string text_of(const Job& deploy) {
  auto machine = machine_of(deploy);
  auto where = machine.zone.empty() ? machine.region : machine.zone;
  return fmt::format("{} in {}", machine.resource_id.value_or(deploy.name), where);
}

Result<void> check_unambiguous(const std::string& target, const std::vector<Job>& deploys) {
  auto is_other = [&](const Job& job) { return machine_of(job) != machine_of(deploys.front()); };
  if (std::ranges::none_of(deploys, is_other)) return {};
  std::vector<std::string> named;
  for (const auto& job : deploys)
    if (auto text = text_of(job); std::ranges::find(named, text) == named.end()) named.push_back(text);
  auto more =
      named.size() > kMaxNamedMachines ? fmt::format(" and {} more", named.size() - kMaxNamedMachines) : "";
  named.resize(std::min(named.size(), kMaxNamedMachines));
  return fail(Code::conflict, "'{}' names several machines: {}{}; give a resource id, or a zone or region",
              target, fmt::join(named, ", "), more);
}

}  // namespace

Result<ResolvedDeploy> resolve_teardown(db::Transaction& tx, const Principal& principal, const Action& action,
                                        const Submission& submission) {
  const auto& target = submission.target;
  if (target.empty() || target.size() > kMaxTargetBytes || !is_utf8(target) || has_control_character(target))
    return fail(Code::invalid, "the resource to remove has no usable name");
  auto place = TRY(location_of(action, submission.body));
  auto deploys = TRY(candidates(tx, action, target, place));
  TRY(check_can_tear_down(principal, deploys));
  TRY(check_unambiguous(target, deploys));
  const Job* deploy = deploys.empty() ? nullptr : &deploys.front();
  Machine machine{{}, place.region, place.zone};
  if (deploy)
    machine = machine_of(*deploy);
  else if (has_resource_id_form(action.cloud, target))
    machine.resource_id = target;
  Json request = {{"region", machine.region}, {"name", target}, {"has_deploy_job", deploy != nullptr}};
  request["workgroup"] = deploy && deploy->workgroup ? Json(*deploy->workgroup) : Json(nullptr);
  auto parameters = Json::object();
  if (!machine.zone.empty()) request["zone"] = machine.zone;
  if (machine.resource_id) request["resource_id"] = parameters["resource_id"] = *machine.resource_id;
  if (deploy) parameters["deploy_job_id"] = deploy->id;
  return ResolvedDeploy{
      {{target, machine.region, std::move(request), std::move(parameters), machine.resource_id}},
      deploy ? deploy->workgroup : std::nullopt,
      /*is_batch=*/false};
}

Error in_query(Error error) {
  if (error.code != Code::validation || !error.body) return error;
  auto body = *error.body;
  for (auto& problem : body) problem["loc"][0] = "query";
  error.body = std::make_shared<const OrderedJson>(std::move(body));
  return error;
}

}  // namespace dash::jobs
