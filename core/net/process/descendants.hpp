// Finds and ends the processes that a program left behind, also those that made a session of their own. The
// program's root must be a child subreaper (prctl(2)), so that an orphan stays below it.
#pragma once
#include <sys/types.h>

#include <vector>

namespace dash::net {

// Returns the processes below `root` that are no zombies. Other threads may start and end processes meanwhile.
std::vector<pid_t> descendants_of(pid_t root);
// Stops and then kills all of them, until none is left or a second has passed. `root` itself stays.
void kill_descendants(pid_t root);

}  // namespace dash::net
