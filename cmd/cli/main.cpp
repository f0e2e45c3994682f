#include "cmd/cli/groups.hpp"
#include "core/base/core_dump.hpp"

int main(int argc, char** argv) {
  dash::forbid_core_dumps();
  return dash::cmd::run({argv + 1, argv + argc});
}
