#include "core/setup/storage_rules.hpp"

#include <algorithm>

#include "core/agent/protocol/storage_job.hpp"
#include "core/base/redact.hpp"
#include "core/base/text.hpp"
#include "core/config/settings.hpp"
#include "core/storage/assets/sweep_schedule.hpp"
#include "core/storage/store/backends.hpp"
#include "core/storage/store/registry.hpp"

namespace dash::setup {
namespace {

const std::string kHub = "storage_hub_backend";
const std::string kRunner = "automation_runner";
const std::string kAutomation = "ansible_enabled";

std::vector<std::string> required_keys() {
  std::vector<std::string> keys;
  for (const auto& backend : storage::backends())
    for (auto key : backend.required)
      if (!key.empty()) keys.emplace_back(key);
  return keys;
}

std::vector<std::string> required_and(std::vector<std::string> keys) {
  for (auto& key : required_keys()) keys.push_back(std::move(key));
  return keys;
}

std::vector<std::string> changed_of(const RuleInput& input, const std::vector<std::string>& keys) {
  std::vector<std::string> out;
  std::ranges::copy_if(keys, std::back_inserter(out),
                       [&](const std::string& key) { return input.changes_key(key); });
  return out;
}

std::string choice_of(const config::Values& values, const std::string& key) {
  return config::canonical_backend(trim(storage::value_of(values, key)));
}

// Checks the backend of a choice, when the change makes that choice.
RuleResult check_choice(const RuleInput& input, const std::string& key, std::string_view doing) {
  auto chosen = choice_of(input.after, key);
  if (chosen.empty() || !input.changes_key(key)) return std::nullopt;
  auto found = storage::find_backend(without_userinfo(chosen), input.name_style());
  if (!found) return Refusal{{key}, "not_configured", found.error()};
  auto missing = storage::missing_setting(**found, input.after);
  if (missing.empty()) return std::nullopt;
  return Refusal{{key},
                 "not_configured",
                 make_error(Code::invalid,
                            "Cannot {} '{}': the required field '{}' is missing. Set it before choosing this "
                            "backend.",
                            doing, storage::backend_in_style(input.name_style(), (*found)->id),
                            config::key_in_style(input.name_style(), missing))};
}

RuleResult check_active(const RuleInput& input) { return check_choice(input, kActiveBackendKey, "activate"); }

RuleResult check_hub(const RuleInput& input) {
  auto hub = storage::find_backend(choice_of(input.after, kHub));
  if (input.changes_key(kHub) && hub && !(*hub)->is_object_store)
    return Refusal{
        {kHub},
        "hub_not_object_store",
        make_error(Code::invalid,
                   "'{}' cannot be the image hub: promotion needs a cloud address. Choose an object "
                   "store.",
                   storage::backend_in_style(input.name_style(), (*hub)->id))};
  return check_choice(input, kHub, "set the hub to");
}

// Checks for the settings without which a chosen backend is no longer configured.
RuleResult check_still_configured(const RuleInput& input) {
  for (const auto& choice : {kActiveBackendKey, kHub}) {
    auto chosen = storage::find_backend(choice_of(input.after, choice));
    if (!chosen || input.changes_key(choice)) continue;
    auto missing = std::string(storage::missing_setting(**chosen, input.after));
    if (missing.empty() || !input.changes_key(missing)) continue;
    return Refusal{{missing},
                   "not_configured",
                   make_error(Code::invalid, "'{}' is the {} and needs '{}'. Choose another backend first.",
                              storage::backend_in_style(input.name_style(), (*chosen)->id),
                              choice == kActiveBackendKey ? "active backend" : "image hub",
                              config::key_in_style(input.name_style(), missing))};
  }
  return std::nullopt;
}

bool is_local(const storage::Backend* backend) { return backend && backend->id == "local"; }

// Only a runner on this machine can read a folder of it.
RuleResult check_runner(const RuleInput& input) {
  auto runner = storage::automation_runner(input.after);
  if (runner == "local") return std::nullopt;
  bool is_chosen = choice_of(input.after, kActiveBackendKey) == "local";
  if (is_chosen && input.changes_key(kActiveBackendKey))
    return Refusal{
        {kActiveBackendKey},
        "runner_local",
        make_error(
            Code::invalid,
            "'local' can be active only while automation_runner is 'local'; it is '{}'. Set the runner to "
            "'local', or choose another backend.",
            without_userinfo(runner))};
  if (!input.changes_key(kRunner) || !is_local(storage::active_backend(input.before))) return std::nullopt;
  auto with_local_runner = input.after;
  with_local_runner[kRunner] = "local";
  if (!is_local(storage::active_backend(with_local_runner))) return std::nullopt;
  return Refusal{
      {kRunner},
      "runner_local",
      make_error(Code::invalid,
                 "automation_runner cannot be '{}' while 'local' is the active backend. Choose another "
                 "backend first.",
                 without_userinfo(runner))};
}

bool automation_is_on(const config::Values& values) {
  return config::parse_flag(kAutomation, storage::value_of(values, kAutomation), false).value_or(false);
}

RuleResult check_automation(const RuleInput& input) {
  if (!automation_is_on(input.after) || storage::active_backend(input.after)) return std::nullopt;
  if (input.changes_key(kAutomation))
    return Refusal{
        {kAutomation},
        "needs_storage",
        make_error(Code::conflict,
                   "Automation needs a storage backend. Configure one and make it active before you "
                   "turn automation on.")};
  if (!storage::active_backend(input.before)) return std::nullopt;
  return Refusal{changed_of(input, required_and({kActiveBackendKey, kRunner})), "needs_storage",
                 make_error(Code::conflict,
                            "Automation is on and needs an active storage backend. Turn automation off, or "
                            "choose another backend first.")};
}

// The agent resolves the folder beneath the share.
Result<void> check_subpath(const std::string&, const std::string& value) {
  auto text = value;
  std::ranges::replace(text, '\\', '/');
  if (text.starts_with('/') || (text.size() > 1 && text[1] == ':'))
    return fail(Code::invalid, "storage_agent_subpath '{}' is absolute; name a folder relative to the share",
                without_userinfo(text));
  if (("/" + text + "/").find("/../") != std::string::npos)
    return fail(Code::invalid, "storage_agent_subpath '{}' leaves the share; remove '..'",
                without_userinfo(text));
  TRY(within("storage_agent_subpath", agent::clean_subpath(text)));
  return {};
}

Result<void> check_agent_share(const std::string& key, const std::string& value) {
  return within(key, agent::check_share(trim(value)));
}

Result<void> check_plain(const std::string& key, const std::string& value) {
  if (std::ranges::any_of(value, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return fail(Code::invalid, "{} has a control character; remove it", key);
  return {};
}

}  // namespace

std::vector<Rule> storage_rules(const storage::local::RootRules& roots) {
  auto check_root = [&roots](const std::string&, const std::string& value) {
    return storage::check_local_root(value, roots);
  };
  std::vector<Rule> rules{
      value_rule({"storage_*"}, "invalid_value", check_plain),
      value_rule({"storage_gc_hours"}, "invalid_value", storage::check_sweep_hours),
      value_rule({"storage_agent_subpath"}, "path_refused", check_subpath),
      value_rule({"storage_agent_share"}, "invalid_value", check_agent_share),
      value_rule({"storage_local_path"}, "path_refused", check_root),
      value_rule({"storage_obj_*_prefix"}, "prefix_reserved", storage::check_asset_prefix),
      {{kActiveBackendKey}, check_active},
      {{kHub}, check_hub},
      {{kActiveBackendKey, kRunner}, check_runner},
      {required_keys(), check_still_configured},
      {required_and({kAutomation, kActiveBackendKey, kRunner}), check_automation},
  };
  rules[rules.size() - 2].is_last = rules.back().is_last = true;
  return rules;
}

}  // namespace dash::setup
