// Names a process so that another one of the same machine can see that it has ended, also when its number is
// used again. Thread-safe.
#pragma once
#include <string>
#include <string_view>

namespace dash {

// Returns the name of this process: the boot of the machine, the namespace of process numbers, the number and
// the time at which it began. Empty where the system does not say.
std::string own_process_name();

// Returns true only when it is known that the process has ended. One of another machine is unknown.
bool has_process_ended(std::string_view name);

}  // namespace dash
