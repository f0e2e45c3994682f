#include "core/automation/runner_choice.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/config/clouds.hpp"
#include "core/jobs/actions.hpp"
#include "core/storage/store/backends.hpp"

namespace dash::automation {
namespace {

constexpr std::string_view kRunnerKey = "automation_runner";

std::string runner_setting(const config::Values& values, const std::string& key) {
  return std::string(trim(storage::value_of(values, key)));
}

// key → the runner that it chooses, for each setting of a runner.
std::map<std::string, std::string> runners_of(const config::Values& values) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : values)
    if (key == kRunnerKey || key.starts_with(std::string(kRunnerKey) + "_"))
      out[key] = runner_name(value, "", {});
  return out;
}

}  // namespace

std::string runner_name(const std::string& given, const std::string& cloud, const config::Values& values) {
  auto name = std::string(trim(given));
  // The provider's name is part of the key in both spellings.
  if (name.empty() && !cloud.empty())
    name = runner_setting(values, "automation_runner_" + config::provider_cloud(cloud));
  if (name.empty()) name = runner_setting(values, "automation_runner");
  return name.empty() || lower(name) == kLocalRunner ? std::string(kLocalRunner) : name;
}

std::string agent_of_runner(std::string_view name) {
  return name.starts_with(kAgentRunner) ? std::string(trim(name.substr(kAgentRunner.size()))) : "";
}

Result<RunnerChoice> choose_runner(const std::string& name, const jobs::Executors& executors) {
  if (name.starts_with(kAgentRunner)) {
    auto agent = agent_of_runner(name);
    if (agent.empty())
      return fail(Code::conflict, "the runner 'agent:' names no agent; write agent: and the agent's name");
    return RunnerChoice{name, "", std::move(agent)};
  }
  if (name != kLocalRunner) {
    auto executable = TRY(executors.find_runner(name));
    return RunnerChoice{name, std::move(executable)};
  }
  std::string action(jobs::kAutomationRun);
  auto available = executors.available();
  if (auto found = available.find(action); found != available.end()) return RunnerChoice{name, found->second};
  auto refused = executors.refused();
  auto unsafe = std::ranges::find(refused, action, &jobs::RefusedExecutor::action);
  if (unsafe != refused.end())
    return fail(Code::conflict, "the executor {} is not run: {}", unsafe->path, unsafe->reason);
  return RunnerChoice{name, ""};
}

std::map<std::string, std::string> runner_warnings(const config::Values& values,
                                                   const jobs::Executors& executors) {
  std::map<std::string, std::string> out;
  for (const auto& [key, name] : runners_of(values)) {
    if (name == kLocalRunner || name.starts_with(kAgentRunner)) continue;
    if (auto known = executors.find_runner(name); !known) out[key] = known.error().message;
  }
  return out;
}

std::map<std::string, std::string> agent_runners(const config::Values& values) {
  std::map<std::string, std::string> out;
  for (const auto& [key, name] : runners_of(values))
    if (name.starts_with(kAgentRunner)) out[key] = agent_of_runner(name);
  return out;
}

}  // namespace dash::automation
