#include "core/jobs/resolve_deploy.hpp"

#include <algorithm>

#include "core/base/fields.hpp"
#include "core/base/shape.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/config/clouds.hpp"
#include "core/identity/default_workgroup.hpp"
#include "core/jobs/location.hpp"
#include "core/jobs/machines.hpp"
#include "core/policy/settings.hpp"

namespace dash::jobs {
namespace {

constexpr std::size_t kMinBaseNameLength = 3;  // of a batch name, so that it stays readable

Result<std::string> required_text(const Json& body, const std::vector<std::string_view>& names) {
  auto value = TRY(aliased_text_field(body, names));
  if (value.empty()) return missing_member(names.front());
  return value;
}

// No provider's size has a blank or a letter beyond ASCII: a look-alike would evade the block list.
Result<void> check_instance_type(std::string_view type) {
  if (std::ranges::all_of(type, [](char c) { return c > ' ' && c < 0x7f; })) return {};
  return fail(Code::invalid, "'{}' is not a size's name", type);
}

// Returns the region that a cloud's machines get by default.
Result<std::string> default_region(std::string_view cloud, const ReadSetting& setting) {
  const auto& defaults = defaults_of(cloud);
  auto configured = TRY(setting(std::string(defaults.region_setting)));
  if (configured.empty() && cloud == "cloud1") configured = TRY(setting("cloud1_default_region"));
  return configured.empty() ? std::string(defaults.region) : configured;
}

// Returns the location, or the default when neither region nor zone is given.
Result<Location> location_of(const Action& action, std::string_view cloud, const Json& body,
                             const ReadSetting& setting) {
  auto typed = TRY(parse_location(action, cloud, body));
  const auto& defaults = defaults_of(cloud);
  if (typed.region.empty() && typed.zone.empty() && !defaults.zone.empty()) {
    typed.zone = TRY(setting(std::string(defaults.zone_setting)));
    typed.region = TRY(setting(std::string(defaults.region_setting)));
    if (typed.zone.empty() && typed.region.empty()) typed.zone = defaults.zone;
  }
  if (typed.region.empty() && typed.zone.empty()) typed.region = TRY(default_region(cloud, setting));
  return normalize_location(cloud, std::move(typed));
}

Result<std::string> default_type(const Action& action, std::string_view cloud, const std::string& region,
                                 const ReadSetting& setting) {
  const auto& defaults = defaults_of(cloud);
  if (action.name == "clouddb:provision") return std::string(defaults.database_type);
  std::string key;
  if (action.name == "k8s:provision") key = defaults.node_type_setting;
  if (action.name == "cloud2:vm:deploy") key = fmt::format("cloud2_region.{}.default_vm_size", region);
  auto configured = key.empty() ? std::string() : TRY(setting(key));
  if (!configured.empty()) return configured;
  return std::string(action.name == "k8s:provision" ? defaults.node_type : defaults.instance_type);
}

// Returns base-01 … base-NN; the base is cut to the cloud's limit.
Result<std::vector<std::string>> names_of(const Action& action, const std::string& base, std::int64_t count) {
  if (count == 1) return std::vector{base};
  auto cut = trim_partial_character(std::string_view(base).substr(0, action.max_name_length - 3));
  if (cut.size() < kMinBaseNameLength)
    return fail(Code::invalid, "the name of {} machines has {} characters or more", count,
                kMinBaseNameLength);
  std::vector<std::string> out;
  for (std::int64_t i = 1; i <= count; ++i) out.push_back(fmt::format("{}-{:02}", cut, i));
  return out;
}

Result<std::int64_t> count_of(const Action& action, const Json& body) {
  auto count = TRY(integer_field(body, "count")).value_or(1);
  bool is_single = action.max_name_length == 0;
  if (is_single && count != 1) return wrong_value("count", "is 1 here; send a request for each");
  if (count < 1 || count > kMaxCount) return wrong_value("count", fmt::format("is 1 to {}", kMaxCount));
  return count;
}

// Leaves out the members that an executor must not take from the body: everything that was resolved, and our
// own.
Json other_members(const Action& action, const Json& body) {
  Json out = body;
  for (const auto* names : {&action.region, &action.instance_type, &action.image, &action.name_members})
    for (auto name : *names) out.erase(std::string(name));
  for (auto name :
       {"count", "workgroup", "zone", "cloud", "run_at", "run_timezone", "change_window_id", "post_deploy"})
    out.erase(name);
  return out;
}

// Returns the parameters of the job, and adds the variables of a module to its request.
Result<Json> parameters_of(const Action& action, const Json& body, const ResolveContext& context,
                           Json& request) {
  auto members = other_members(action, body);
  if (!context.declared) return members;
  members.erase("provider");
  if (action.kind == ActionKind::provision)
    for (auto name : {"engine", "node_count"}) members.erase(name);
  auto variables = TRY(resolve_variables(*context.declared, members));
  if (!variables.shown.empty()) request["variables"] = variables.shown;
  return variable_parameters(variables);
}

Result<std::string> cloud_of(const Action& action, const Json& body) {
  if (!action.cloud.empty()) return std::string(action.cloud);
  auto cloud = config::canonical_cloud(lower(TRY(aliased_text_field(body, {"cloud", "provider"}))));
  if (cloud.empty()) return std::string("cloud1");
  if (defaults_of(cloud).cloud != cloud)
    return wrong_value("cloud", "is none of cloud1, cloud2, cloud3, cloud4");
  return cloud;
}

// A body with everything filled in, before it becomes one machine or several.
struct ResolvedBody {
  std::string cloud, name, region;  // region folded
  std::optional<std::string> workgroup;
  Json request, parameters, post_deploy;
};

Result<ResolvedBody> resolve_body(const Action& action, const Json& body, const ResolveContext& context) {
  TRY(require_object(body));
  const auto& setting = context.setting;
  auto cloud = TRY(cloud_of(action, body));
  auto name = TRY(required_text(body, action.name_members));
  if (action.kind == ActionKind::deploy && has_resource_id_form(cloud, name))
    return wrong_value(action.name_members.front(),
                       "has the form of a resource id of this cloud; give the machine another name");
  auto image = action.kind == ActionKind::deploy ? TRY(required_text(body, action.image))
                                                 : TRY(aliased_text_field(body, action.image));
  auto place = TRY(location_of(action, cloud, body, setting));
  auto type = TRY(aliased_text_field(body, action.instance_type));
  if (type.empty()) type = TRY(default_type(action, cloud, place.region, setting));
  TRY(check_instance_type(type));
  Json request = {{"region", place.typed}, {"instance_type", type}, {"image", image}};
  auto workgroup = lower(TRY(aliased_text_field(body, {"workgroup"})));
  request["workgroup"] = workgroup.empty() ? Json(nullptr) : Json(workgroup);
  if (!place.zone.empty()) request["zone"] = place.zone;
  if (action.kind == ActionKind::provision) {
    request["cloud"] = cloud;
    if (auto engine = TRY(aliased_text_field(body, {"engine"})); !engine.empty()) request["engine"] = engine;
    if (auto nodes = TRY(integer_field(body, "node_count"))) request["node_count"] = *nodes;
  }
  auto parameters = TRY(parameters_of(action, body, context, request));
  return ResolvedBody{cloud,
                      name,
                      place.region,
                      workgroup.empty() ? std::nullopt : std::optional(workgroup),
                      std::move(request),
                      std::move(parameters),
                      body.value("post_deploy", Json())};
}

// Runs after all other checks, because the refusal names workgroups.
Result<void> fill_workgroup(ResolvedBody& resolved, const Principal& principal) {
  if (resolved.workgroup) return {};
  resolved.workgroup = TRY(identity::default_workgroup(principal));
  if (resolved.workgroup) resolved.request["workgroup"] = *resolved.workgroup;
  return {};
}

ResolvedItem item_of(const Action& action, const ResolvedBody& resolved, std::string name, std::size_t count,
                     bool is_batch) {
  auto request = resolved.request;
  request["name"] = name;
  if (action.kind == ActionKind::deploy) {
    request["count"] = count;
    request["batch"] = is_batch;
  }
  return {std::move(name),     resolved.region, std::move(request),
          resolved.parameters, std::nullopt,    resolved.post_deploy};
}

// An item is one machine that is made now: count and time are given once, beside the items.
Result<ResolvedBody> resolve_item(const Action& action, const Json& shared, const Json& item,
                                  const ResolveContext& context) {
  TRY(require_object(item));
  for (auto name : {"count", "items", "run_at", "run_timezone", "change_window_id"})
    if (item.contains(name)) return wrong_value(name, "belongs beside the items, not into one of them");
  auto body = shared;
  body.erase("count");
  // A member of the item replaces the shared one in either spelling, and a zone replaces a region.
  auto place = action.region;
  place.push_back("zone");
  for (const auto& names : {place, action.instance_type, action.image, action.name_members})
    if (std::ranges::any_of(names, [&](auto name) { return item.contains(name); }))
      for (auto name : names) body.erase(std::string(name));
  body.update(item);
  return resolve_body(action, body, context);
}

// Changes ["body", "name"] to ["body", "items", i, "name"].
Error in_item(Error error, std::size_t i) {
  if (error.code != Code::validation || !error.body)
    return std::move(error).within(fmt::format("items[{}]", i));
  auto body = *error.body;
  for (auto& problem : body) {
    auto& where = problem["loc"];
    where.insert(where.begin() + 1, {OrderedJson("items"), OrderedJson(i)});
  }
  error.message = fmt::format("items[{}]: {}", i, error.message);
  error.body = std::make_shared<const OrderedJson>(std::move(body));
  return error;
}

}  // namespace

Result<ResolvedDeploy> resolve_deploy(const Action& action, const Json& body, const ResolveContext& context) {
  auto resolved = TRY(resolve_body(action, body, context));
  auto count = TRY(count_of(action, body));
  TRY(fill_workgroup(resolved, context.principal));
  ResolvedDeploy out{{}, resolved.workgroup, count > 1};
  for (auto& name : TRY(names_of(action, resolved.name, count)))
    out.items.push_back(
        item_of(action, resolved, std::move(name), static_cast<std::size_t>(count), out.is_batch));
  return out;
}

Result<ResolvedDeploy> resolve_bulk_deploy(const Action& action, const Json& body,
                                           const ResolveContext& context) {
  TRY(require_object(body));
  auto items = body.find("items");
  if (items == body.end()) return missing_member("items");
  if (!items->is_array()) return wrong_type("items", "array");
  if (items->empty() || items->size() > static_cast<std::size_t>(kMaxCount))
    return wrong_value("items", fmt::format("holds 1 to {} machines", kMaxCount));
  auto shared = body;
  shared.erase("items");
  ResolvedDeploy out{{}, std::nullopt, true};
  for (std::size_t i = 0; i < items->size(); ++i) {
    auto resolved = resolve_item(action, shared, (*items)[i], context);
    if (!resolved) return Failure(in_item(std::move(resolved).error(), i));
    TRY(fill_workgroup(*resolved, context.principal));
    if (i > 0 && resolved->workgroup != out.workgroup)
      return wrong_value("workgroup", "differs between the items; a bulk deploy belongs to one workgroup");
    out.workgroup = resolved->workgroup;
    auto name = resolved->name;
    out.items.push_back(item_of(action, *resolved, std::move(name), items->size(), true));
  }
  return out;
}

}  // namespace dash::jobs
