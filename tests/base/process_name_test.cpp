#include "core/base/process_name.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace dash {
namespace {

// Returns the name of a child that has ended; `is_reaped` says whether its parent has taken its status.
std::string name_of_ended_child(bool is_reaped) {
  int line[2];
  EXPECT_EQ(::pipe(line), 0);
  auto child = ::fork();
  if (child == 0) {
    auto name = own_process_name();
    std::ignore = ::write(line[1], name.data(), name.size());
    ::_exit(0);
  }
  char name[256];
  auto size = ::read(line[0], name, sizeof name);
  ::close(line[0]);
  ::close(line[1]);
  siginfo_t ended;
  ::waitid(P_PID, static_cast<id_t>(child), &ended, is_reaped ? WEXITED : WEXITED | WNOWAIT);
  return {name, static_cast<std::size_t>(size)};
}

TEST(ProcessName, OfALiveProcessHasNotEnded) {
  auto own = own_process_name();
  ASSERT_FALSE(own.empty());
  EXPECT_EQ(own, own_process_name());
  EXPECT_FALSE(has_process_ended(own));
}

TEST(ProcessName, OfADeadProcessHasEnded) {
  EXPECT_TRUE(has_process_ended(name_of_ended_child(true)));
  EXPECT_TRUE(has_process_ended(name_of_ended_child(false)));
}

TEST(ProcessName, OfANumberThatIsUsedAgainHasEnded) {
  EXPECT_TRUE(has_process_ended(own_process_name() + "0"));
}

TEST(ProcessName, OfAnotherMachineIsUnknown) {
  for (std::string name : {"", "another-boot pid:[1] 999999 5", "x", "1"})
    EXPECT_FALSE(has_process_ended(name)) << name;
  auto own = own_process_name();
  auto machine = own.substr(0, own.rfind(' ', own.rfind(' ') - 1));
  for (std::string rest : {"", " ", " x 1", " -1 1", " 0 1"})
    EXPECT_FALSE(has_process_ended(machine + rest)) << rest;
}

}  // namespace
}  // namespace dash
