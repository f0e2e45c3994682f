#include "core/net/process/child_spawner.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/net/process/shell.hpp"
#include "tests/support/scratch.hpp"

namespace dash::net {
namespace {

using std::chrono::milliseconds;

TEST(ChildSpawner, KeepsChildrenAliveWhenTheThreadThatAskedEnds) {
  Scratch scratch;
  ChildSpawner spawner;
  Child child;
  std::thread([&] {
    child = must(spawner.start(sleeper(scratch / "up")));
    wait_for(scratch / "up");
  }).join();
  EXPECT_FALSE(child.wait(milliseconds(50)));
}

}  // namespace
}  // namespace dash::net
