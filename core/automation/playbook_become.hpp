// Whether a playbook takes another user's rights, and whether it does on the machine that runs ansible. Judged by
// what YAML says, not by its spelling. What a template decides counts as become. Pure.
#pragma once
#include <string>

#include "core/base/error.hpp"

namespace dash::automation {

struct BecomeUse {
  bool is_anywhere = false;
  // In a play, block, role or task for localhost, with connection local, or delegated to it.
  bool is_on_this_machine = false;
  // Reads plays, tasks, roles or variables of other files, which nobody has judged.
  bool reads_other_files = false;
};

// `becomes_always`: variables from outside turn become on. Code::invalid for a text that is no YAML.
Result<BecomeUse> find_become(const std::string& playbook, bool becomes_always = false);

}  // namespace dash::automation
