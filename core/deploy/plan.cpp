#include "core/deploy/plan.hpp"

namespace dash::deploy {

OrderedJson to_json(const PlanSummary& plan) {
  return {{"add", plan.add}, {"change", plan.change}, {"destroy", plan.destroy}, {"digest", plan.digest}};
}

Result<PlanSummary> read_plan(std::string_view shown) {
  auto json = TRY(within("the plan", parse_json(shown)));
  if (!json.is_object() || !json.contains("format_version"))
    return fail(Code::integrity, "the program shows no plan");
  PlanSummary out;
  for (const auto& resource : json.value("resource_changes", Json::array())) {
    if (!resource.is_object() || !resource.contains("change") || !resource["change"].is_object())
      return fail(Code::integrity, "the program shows a plan of another form");
    if (string_member(resource, "mode").value_or("managed") != "managed") continue;
    for (const auto& action : resource["change"].value("actions", Json::array())) {
      out.add += action == "create";
      out.change += action == "update";
      out.destroy += action == "delete";
    }
  }
  return out;
}

}  // namespace dash::deploy
