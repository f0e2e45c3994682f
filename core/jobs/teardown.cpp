#include "core/jobs/teardown.hpp"

#include "core/base/shape.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/jobs/fields.hpp"
#include "core/jobs/store.hpp"
#include "core/policy/settings.hpp"

namespace dash::jobs {
namespace {

constexpr std::size_t kLongestTarget = 512;  // an OCID has 255

Result<void> may_tear_down(const identity::Principal& who, const std::optional<Job>& deploy) {
  if (who.is_admin) return {};
  if (deploy && deploy->workgroup && who.member_of(*deploy->workgroup)) return {};
  return fail(Code::forbidden,
              "only admins and members of the workgroup that deployed it may remove this resource");
}

}  // namespace

Result<Plan> plan_teardown(db::Transaction& tx, const identity::Principal& who, const Action& action,
                           const Submission& submission, const ReadText& setting) {
  const auto& target = submission.target;
  if (target.empty() || target.size() > kLongestTarget || !is_utf8(target) || has_control_character(target))
    return fail(Code::invalid, "the resource to remove has no usable name");
  auto deploy = TRY(find_deploy(tx, std::string(action.deploys), target));
  TRY(may_tear_down(who, deploy));
  std::string zone;
  if (action.cloud == "cloud3") zone = trim(TRY(text_field(submission.body, "zone")).value_or(""));
  if (zone.empty() && deploy && deploy->request.contains("zone"))
    zone = string_member(deploy->request, "zone").value_or("");
  std::string region;
  if (deploy)
    region = string_member(deploy->request, "region").value_or(deploy->region);
  else if (auto of_zone = region_of_zone(zone))
    region = *of_zone;
  else
    region = TRY(default_region(action.cloud, setting));
  Json request = {{"region", region}, {"name", target}, {"has_deploy_job", deploy.has_value()}};
  request["workgroup"] = deploy && deploy->workgroup ? Json(*deploy->workgroup) : Json(nullptr);
  if (!zone.empty()) request["zone"] = zone;
  auto parameters = Json::object();
  if (deploy) parameters["deploy_job_id"] = deploy->id;
  if (deploy && deploy->resource_id) parameters["resource_id"] = *deploy->resource_id;
  return Plan{{{target, policy::fold_region(region), request, parameters}},
              deploy ? deploy->workgroup : std::nullopt,
              /*is_batch=*/false};
}

Result<BookingRequest> booking_of(const Json& body) {
  TRY(require_object(body));
  auto text = [&](std::string_view name) -> Result<std::string> {
    return std::string(trim(TRY(text_field(body, name)).value_or("")));
  };
  BookingRequest booking;
  booking.run_at = TRY(text("run_at"));
  booking.timezone = TRY(text("run_timezone"));
  booking.window_id = TRY(text("change_window_id"));
  return booking;
}

}  // namespace dash::jobs
