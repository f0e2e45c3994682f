#include "cmd/cli/groups.hpp"
#include "core/base/core_dump.hpp"
#include "core/base/standard_streams.hpp"

int main(int argc, char** argv) {
  dash::hold_standard_streams();
  dash::forbid_core_dumps();
  return dash::cmd::run({argv + 1, argv + argc});
}
