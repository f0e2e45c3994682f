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

// What a run adds to its playbook.
struct PlaybookCheck {
  bool has_local_host = false;  // a host of the run has connection local
  bool becomes_always = false;  // variables of the request turn become on
};

// A longer playbook is not judged.
inline constexpr std::size_t kMaxJudgedPlaybook = 1u << 20;

// Returns whether the playbook may take another user's rights on its hosts. Code::invalid where it would on the
// machine that runs it; with a host of connection local also when it cannot be judged: longer than
// kMaxJudgedPlaybook, no YAML, or in several files.
Result<bool> judge_playbook(const std::string& name, const std::string& text, const PlaybookCheck& check);

}  // namespace dash::automation
