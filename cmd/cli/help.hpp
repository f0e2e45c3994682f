// Help pages, the man page and the shells' completion scripts, all from the command tree.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cmd/cli/tree.hpp"
#include "core/base/error.hpp"

namespace dash::cmd {

std::string root_help(const std::vector<Group>& groups);
std::string group_help(const Group& group);
std::string action_help(const Group& group, const Action& action);
// Returns dashctl(1) in man(7) macros.
std::string man_page(const std::vector<Group>& groups);
// Returns the script of a shell: bash, zsh or fish. Code::usage for another.
Result<std::string> completion_script(const std::vector<Group>& groups, std::string_view shell);

}  // namespace dash::cmd
