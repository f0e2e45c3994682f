// Every group of the command tree; each is defined in the file of its name. root() is the table.
#pragma once
#include <vector>

#include "cmd/cli/tree.hpp"

namespace dash::cmd {

Group migrate_group();
Group agent_group();
Group audit_group();
Group automation_group();
Group doctor_group();
Group host_group();
Group job_group();
Group policy_group();
Group completion_group();
Group config_group();
Group serve_group();
Group storage_group();
Group token_group();
Group user_group();
Group vault_group();

// Returns the groups in the order of the help page.
std::vector<Group> root();

// Runs the program: takes the words without its name and returns the exit code.
int run(std::vector<std::string> words);

}  // namespace dash::cmd
