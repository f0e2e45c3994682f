#include "core/automation/post_deploy.hpp"

#include "core/automation/ansible.hpp"
#include "core/automation/deploy_host.hpp"
#include "core/automation/playbook_check.hpp"
#include "core/storage/store/names.hpp"

namespace dash::automation {
namespace {

Result<std::string_view> follow_up_type(const std::string& asset) {
  auto type = storage::asset_type(asset);
  if (!type)
    return fail(Code::invalid, "'{}' cannot be run; runnable are {}", asset, storage::kAllowedExtensions);
  if (*type == "powershell")
    return fail(Code::invalid, "'{}' is a PowerShell script; what follows a deploy reaches its host by ssh",
                asset);
  return *type;
}

}  // namespace

Result<jobs::PostDeployRun> PostDeploy::resolve(const Principal& principal,
                                                const std::optional<std::string>& workgroup,
                                                const jobs::PostDeployEntry& entry) {
  auto settings = TRY(deps_.stores.settings());
  if (!storage::active_backend(settings->values()))
    return fail(
        Code::conflict,
        "No storage backend is active, so there is no asset to run after the deploy. Configure one and "
        "make it active first.");
  auto found = TRY(deps_.assets.find(principal, entry.asset_backend, entry.asset));
  if (found.asset.workgroup && found.asset.workgroup != workgroup)
    return storage::asset_not_found(entry.asset);
  if (!TRY(deps_.settings.flag("ansible_enabled", true)))
    return fail(
        Code::conflict,
        "Automation is off, so nothing can follow a deploy. An admin turns it on with ansible_enabled "
        "(PATCH /api/setup/feature/ansible).");
  auto type = TRY(follow_up_type(entry.asset));
  auto variables = entry.variables;
  auto connection = TRY(take_connection(variables));
  TRY(check_variables("variables", variables));
  auto name = runner_name("", "", settings->values());
  auto runner = TRY(choose_runner(name, deps_.executors));
  if (!runner.agent.empty())
    return fail(
        Code::conflict,
        "what follows a deploy is run from this machine, and automation_runner is '{}'; leave post_deploy "
        "out, or set another runner for the cloud (automation_runner_<cloud>)",
        name);
  bool is_ansible = runner.is_ansible_here();
  if (is_ansible) TRY(check_ansible_usable(deps_.settings, deps_.data_dir));
  bool is_local = connection.value("connection", Json()) == word(Connection::local);
  bool becomes = is_ansible && type == "playbook" &&
                 TRY(check_playbook(deps_.assets, principal, found, {is_local, uses_become(variables)}));
  jobs::PostDeployRun out;
  out.workgroup = workgroup;
  out.request = {{"asset", entry.asset},
                 {"backend", found.asset.backend},
                 {"asset_etag", found.object.etag},
                 {"asset_digest", found.asset.digest},
                 {"check", false},
                 {"type", type},
                 {"runner", name}};
  out.parameters = {{"extra_vars", std::move(variables)}, {"secret_vars", Json::object()}};
  out.parameters[std::string(jobs::kAfterDeploy)]["connection"] = std::move(connection);
  if (becomes) out.parameters[std::string(jobs::kAfterDeploy)]["becomes"] = true;
  return out;
}

}  // namespace dash::automation
