// From words to an action that is ready to run. The one place that knows CLI11. Errors are Code::usage and
// say what to type.
#pragma once
#include <string>
#include <vector>

#include "cmd/cli/tree.hpp"

namespace dash::cmd {

struct CommonFlags {
  std::string output = "text";
  bool is_quiet = false;
  bool has_no_input = false;
  bool wants_help = false;
};
// The flags of every command.
void declare_common_flags(Flags& flags, CommonFlags& into);
// Those that `action` takes: a daemon has its log for an output.
void declare_common_flags(const Action& action, Flags& flags, CommonFlags& into);

struct ParsedCommand {
  const Group* group = nullptr;
  const Action* action = nullptr;      // nullptr: only the group was named
  std::vector<std::string> arguments;  // of the action
};
// Names the group and the action; frame flags may stand before them.
Result<ParsedCommand> find_action(const std::vector<Group>& groups, std::vector<std::string> words);

// Fills what `flags` binds, from `words` and then from the environment. Returns the warnings of the switches
// that are on.
Result<std::vector<std::string>> parse_flags(const Flags& flags, const std::vector<std::string>& words);

}  // namespace dash::cmd
