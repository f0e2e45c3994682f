#include "cmd/groups.hpp"

#include "cmd/help.hpp"
#include "cmd/output.hpp"

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
          {{"", "Print a shell's completion script", "Try: source <(dashctl completion bash)",
            declare_completion}}};
}

std::vector<Group> root() { return {completion_group(), man_group()}; }

}  // namespace dash::cmd
