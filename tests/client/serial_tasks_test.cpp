#include "core/client/serial_tasks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/must.hpp"

namespace dash::client {
namespace {

TEST(SerialTasks, RunsThemInTheirOrderOnAnotherThreadOrOnThisOne) {
  for (bool has_thread : {true, false}) {
    SerialTasks tasks(has_thread);
    std::vector<int> done;
    std::thread::id by;
    for (int i = 0; i < 100; ++i)
      must(tasks.post([&, i]() -> Result<void> {
        by = std::this_thread::get_id();
        done.push_back(i);
        return {};
      }));
    must(tasks.finish());
    EXPECT_EQ(done.size(), 100u);
    EXPECT_TRUE(std::ranges::is_sorted(done));
    EXPECT_EQ(by == std::this_thread::get_id(), !has_thread);
  }
}

TEST(SerialTasks, DropsTheRestAfterAFailureAndReturnsIt) {
  SerialTasks tasks(true);
  bool has_run = false;
  must(tasks.post([]() -> Result<void> { return fail(Code::internal, "no space"); }));
  std::ignore = tasks.post([&]() -> Result<void> {
    has_run = true;
    return {};
  });
  auto finished = tasks.finish();
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().message, "no space");
  EXPECT_FALSE(has_run);
  EXPECT_FALSE(tasks.post([]() -> Result<void> { return {}; }));
}

}  // namespace
}  // namespace dash::client
