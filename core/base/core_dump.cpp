#include "core/base/core_dump.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>

namespace dash {

void forbid_core_dumps() {
  // A core that the system pipes to a program ignores a limit of 0, but not one of 1 byte (core(5)).
  rlimit no_core{1, 1};
  ::setrlimit(RLIMIT_CORE, &no_core);
  // The limit is inherited by programs, this is not.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

}  // namespace dash
