#include "cmd/cli/groups.hpp"

#include "cmd/cli/db_group.hpp"
#include "cmd/cli/help.hpp"
#include "cmd/cli/printer.hpp"

namespace dash::cmd {
namespace {

Run declare_completion(Flags& flags) {
  auto shell = std::make_shared<std::string>();
  flags.argument("SHELL", *shell, "bash, zsh or fish").required().one_of({"bash", "zsh", "fish"});
  return [shell](Context& context) -> Result<void> {
    context.out.raw(TRY(completion_script(root(), *shell)));
    return {};
  };
}

Run declare_man(Flags&) {
  return [](Context& context) -> Result<void> {
    context.out.raw(man_page(root()));
    return {};
  };
}

Group man_group() {
  return {"man", "Print the manual page", {{"", "Print the manual page", "", declare_man}}, true};
}

}  // namespace

Group completion_group() {
  return {"completion",
          "Print a shell's completion script",
          {{"",
            "Print a shell's completion script",
            "",
            declare_completion,
            {{"Complete in this shell", "source <(dashctl completion bash)"}}}}};
}

// In the order of the help page.
std::vector<Group> root() {
  std::vector<Group> groups;
  groups.push_back(serve_group());
  groups.push_back(migrate_group());
  groups.push_back(audit_group());
  groups.push_back(job_group());
  groups.push_back(storage_group());
  groups.push_back(automation_group());
  groups.push_back(config_group());
  groups.push_back(user_group());
  groups.push_back(token_group());
  groups.push_back(vault_group());
  groups.push_back(host_group());
  groups.push_back(agent_group());
  groups.push_back(policy_group());
  groups.push_back(db_group());
  groups.push_back(doctor_group());
  groups.push_back(completion_group());
  groups.push_back(man_group());
  return groups;
}

}  // namespace dash::cmd
