#include "core/storage/settings/config_view.hpp"

#include <algorithm>

#include "core/base/shape.hpp"
#include "core/base/text.hpp"
#include "core/config/active_backend.hpp"
#include "core/config/clouds.hpp"
#include "core/config/masking.hpp"
#include "core/config/registry.hpp"
#include "core/storage/store/backends.hpp"

namespace dash::storage {
namespace {

constexpr std::string_view kHub = "storage_hub_backend";
constexpr std::string_view kRunnerPrefix = "promote_runner_";

bool is_shown(const config::KeyInfo& key) {
  return (key.group == "storage" || key.key.starts_with(kRunnerPrefix)) &&
         key.key.find('*') == std::string::npos;
}

// The two choices first, then the backends' settings, then the promotion runner's, with stored ones that are
// not registered.
std::vector<std::string> shown_keys(const config::Values& values) {
  std::vector<std::string> keys{config::kActiveBackendKey, std::string(kHub)};
  auto add = [&](const std::string& key) {
    if (!std::ranges::count(keys, key)) keys.push_back(key);
  };
  for (const auto& key : config::registered_keys())
    if (is_shown(key) && !key.key.starts_with(kRunnerPrefix)) add(key.key);
  for (const auto& key : config::registered_keys())
    if (is_shown(key)) add(key.key);
  for (const auto& [key, value] : values)
    if (key.starts_with(kRunnerPrefix)) add(key);
  return keys;
}

bool is_choice(std::string_view key) { return key == config::kActiveBackendKey || key == kHub; }

Result<std::string> text_of(const std::string& key, const Json& value) {
  if (value.is_boolean()) {
    auto* info = config::lookup(key);
    if (info && info->type == "bool") return std::string(value.get<bool>() ? "1" : "0");
  }
  if (!value.is_string()) return wrong_type(key, "string");
  auto text = value.get<std::string>();
  return is_choice(key) ? config::canonical_backend(trim(text)) : text;
}

Result<bool> read_flag(const Json& body, std::initializer_list<const char*> names) {
  for (auto name : names)
    if (auto it = body.find(name); it != body.end() && !it->is_null()) {
      if (!it->is_boolean()) return wrong_type(name, "boolean");
      return it->get<bool>();
    }
  return false;
}

Result<std::vector<std::string>> read_jobs(const Json& body, const char* name) {
  std::vector<std::string> jobs;
  auto it = body.find(name);
  if (it == body.end() || it->is_null()) return jobs;
  if (!it->is_array()) return wrong_type(name, "list");
  for (const auto& job : *it) {
    if (!job.is_string()) return wrong_type(name, "list of strings");
    jobs.push_back(job.get<std::string>());
  }
  return jobs;
}

Result<config::Changes> read_changes(const Json& body, const std::vector<std::string>& known) {
  config::Changes changes;
  for (const auto& [name, value] : body.items()) {
    auto key = config::canonical_key(name);
    if (value.is_null() || (!std::ranges::count(known, key) && !key.starts_with(kRunnerPrefix))) continue;
    auto text = TRY(text_of(key, value));
    if (config::is_masked(text)) continue;
    if (!changes.emplace(key, text).second)
      return fail(Code::invalid, "the setting '{}' is given twice, in two spellings; send it once", key);
  }
  return changes;
}

}  // namespace

OrderedJson show_config(const config::Values& values) {
  auto style = name_style_of(values);
  OrderedJson shown = OrderedJson::object();
  for (const auto& key : shown_keys(values)) {
    auto value = value_of(values, key);
    value = config::is_secret(key) && !value.empty() ? config::kMask : config::masked_value(key, value);
    if (is_choice(key)) value = backend_in_style(style, value);
    shown[config::key_in_style(style, key)] = value;
  }
  return shown;
}

Result<StateFlags> read_state_flags(const Json& body) {
  StateFlags flags;
  flags.migrate = TRY(read_flag(body, {"migrate_iac_state", "migrate_terraform_state"}));
  flags.abandon = TRY(read_flag(body, {"abandon_iac_state"}));
  flags.overwrite = TRY(read_jobs(body, "overwrite_iac_state"));
  return flags;
}

Result<ConfigPatch> read_config_patch(const Json& body, const config::Values& values) {
  auto style = name_style_of(values);
  ConfigPatch patch;
  patch.changes = TRY(read_changes(body, shown_keys(values)));
  auto after = values;
  for (const auto& [key, value] : patch.changes) after[key] = *value;
  for (const auto& key : shown_keys(after))
    if (patch.changes.contains(key)) patch.updated.push_back(config::key_in_style(style, key));
  return patch;
}

}  // namespace dash::storage
