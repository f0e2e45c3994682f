// Turns words into an action that is ready to run. Only this file uses CLI11. Errors are Code::usage and
// explain what to type.
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
// Declares the flags of every command.
void declare_common_flags(Flags& flags, CommonFlags& into);
// Declares the common flags that `action` takes: a daemon's output is its log.
void declare_common_flags(const Action& action, Flags& flags, CommonFlags& into);

struct ParsedCommand {
  const Group* group = nullptr;
  const Action* action = nullptr;      // nullptr: only the group was named
  std::vector<std::string> arguments;  // of the action
};
// Finds the group and the action; common flags may precede them.
Result<ParsedCommand> find_action(const std::vector<Group>& groups, std::vector<std::string> words);

// Sets the variables of `flags`, from `words` and then from the environment. Returns the warnings of the
// switches that are on.
Result<std::vector<std::string>> parse_flags(const Flags& flags, const std::vector<std::string>& words);

}  // namespace dash::cmd
