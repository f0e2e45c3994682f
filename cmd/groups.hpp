// Every group of the command tree; each is defined in the file of its name. root() is the table.
#pragma once
#include <vector>

#include "cmd/tree.hpp"

namespace dash::cmd {

Group completion_group();

// In the order of the help page.
std::vector<Group> root();

// The whole run: words without the program's name in, exit code out.
int run(std::vector<std::string> words);

}  // namespace dash::cmd
