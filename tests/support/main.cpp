// The test program's main. Like dashctl it is its own launcher of sandboxed children
// (core/net/process/exec_child.hpp) and its own child for SMB (core/storage/store/smb/worker.hpp).
#include <gtest/gtest.h>
#include <signal.h>

#include "core/net/process/exec_child.hpp"
#include "core/storage/store/smb/worker.hpp"

int main(int argc, char** argv) {
  if (argc > 1 && argv[1] == dash::net::kExecChild) return dash::net::exec_child({argv + 2, argv + argc});
  if (argc > 1 && argv[1] == dash::storage::smb::kSmbWorker) return dash::storage::smb::run_worker();
  ::signal(SIGPIPE, SIG_IGN);  // as the program does: an executor may end without reading its input
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
