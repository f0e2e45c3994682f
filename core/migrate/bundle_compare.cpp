#include "core/migrate/bundle_compare.hpp"

#include "core/base/shape.hpp"
#include "core/config/masking.hpp"

namespace dash::migrate {
namespace {

constexpr std::string_view kHere = "this instance";

// The instance itself; a value that its key does not open counts as hidden.
class OwnSettings final : public LocalTarget {
 public:
  OwnSettings(LocalDeps deps, std::set<std::string> unreadable)
      : LocalTarget(std::string(kHere), deps), deps_(deps), unreadable_(std::move(unreadable)) {}

  Result<InstanceConfig> read() override {
    InstanceConfig out;
    out.values = TRY(deps_.config.all());
    for (const auto& key : unreadable_) out.values[key] = config::kMask;
    return out;
  }
  Result<std::optional<std::map<std::string, setup::ValueMatch>>> compare(
      const config::Values& mine) override {
    auto out = TRY(LocalTarget::compare(mine));
    for (const auto& key : unreadable_) out->erase(key);
    return out;
  }

 private:
  LocalDeps deps_;
  const std::set<std::string> unreadable_;
};

Result<bool> flag_member(const Json& body, const char* name) {
  auto found = body.find(name);
  if (found == body.end() || found->is_null()) return false;
  if (!found->is_boolean()) return wrong_type(name, "boolean");
  return found->get<bool>();
}

Result<std::vector<std::string>> only_member(const Json& body) {
  std::vector<std::string> out;
  auto found = body.find("only");
  if (found == body.end() || found->is_null()) return out;
  if (!found->is_array()) return wrong_type("only", "array");
  for (const auto& prefix : *found) {
    if (!prefix.is_string()) return wrong_type("only", "array");
    out.push_back(prefix.get<std::string>());
  }
  return out;
}

Result<bool> replaces_regions(const Json& body) {
  auto found = body.find("regions");
  if (found == body.end() || found->is_null() || *found == "merge") return false;
  if (*found == "replace") return true;
  return wrong_value("regions", "regions must be merge or replace");
}

}  // namespace

Result<BundleCompareRequest> parse_bundle_compare(const Json& body) {
  auto found = body.find("bundle");
  if (found == body.end()) return missing_member("bundle");
  if (!found->is_object()) return wrong_type("bundle", "object");
  auto bundle = parse_bundle(dump_json(*found), "bundle");
  if (!bundle) return wrong_value("bundle", bundle.error().message);
  BundleCompareRequest out{*std::move(bundle), {}};
  auto& selection = out.options.selection;
  selection.only = TRY(only_member(body));
  selection.replace_regions = TRY(replaces_regions(body));
  selection.include_on_prem = TRY(flag_member(body, "include_on_prem"));
  selection.allow_empty_values = TRY(flag_member(body, "allow_empty_values"));
  return out;
}

Result<OrderedJson> compare_bundle(LocalDeps deps, const Principal& principal, BundleCompareRequest request) {
  auto selected = select(request.bundle, request.options.selection, "bundle");
  if (!selected) return wrong_value("bundle", selected.error().message);
  TRY(deps.config_service.begin_compare(principal, selected->values.size() + selected->webhooks.size()));
  OwnSettings target(deps, TRY(deps.config.unreadable_keys()));
  NoProgress progress;
  auto diff = TRY(compare(request.bundle, *selected, target, request.options, progress));
  auto out = to_json(diff);
  out["refused"] = selected->refused;
  out["masked"] = selected->masked;
  for (const auto& key : diff.masked) out["masked"].push_back(key);
  return out;
}

}  // namespace dash::migrate
