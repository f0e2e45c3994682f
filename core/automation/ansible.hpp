// The ansible-playbook of this machine.
#pragma once
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/config/settings.hpp"

namespace dash::automation {

struct AnsibleProgram {
  std::string path;     // absolute
  std::string version;  // of ansible-core
  // Folders that it needs besides those of the system: its own and its interpreter's.
  std::vector<std::string> folders;
};

// Returns $AUTOMATION_ANSIBLE, else what the PATH has, else what scripts/setup made. Code::conflict says how to
// install it.
Result<std::string> find_ansible();
// Runs the program once for its version and folders; the result is kept while the file stays as it is.
Result<AnsibleProgram> probe_ansible(const std::string& path);
// Code::conflict when no run of ansible could begin here: without the program, or where nothing can confine it
// and the setting automation_unconfined is off, or where no memory can keep its secrets.
Result<void> check_ansible_usable(config::Settings& settings, const std::string& data_dir);

}  // namespace dash::automation
