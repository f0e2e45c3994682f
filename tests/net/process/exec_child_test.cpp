#include "core/net/process/exec_child.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/net/process/shell.hpp"
#include "tests/support/scratch.hpp"

namespace dash::net {
namespace {

std::string run_sandboxed(const std::string& script, const Sandbox& sandbox) {
  auto ran = must(run_child(sandboxed(shell(script), sandbox), "", kLong, 10'000));
  return ran.out + ran.err;
}

// Whether the kernel confines at all: /etc is not among the named paths.
bool confines() {
  return run_sandboxed("cat /etc/passwd", {{}, {}, true, true}).find("ermission denied") != std::string::npos;
}

TEST(ExecChild, TakesAwayPrivilegesAndTheUserRoot) {
  auto said = run_sandboxed("id -u; grep NoNewPrivs /proc/self/status", {{"/proc"}, {}, true, true});
  EXPECT_EQ(said.starts_with("65534\n"), ::geteuid() == 0) << said;
  EXPECT_NE(said.find("NoNewPrivs:\t1"), std::string::npos) << said;
}

TEST(ExecChild, ReadsNothingButWhatIsNamedWhereTheKernelKnowsLandlock) {
  Scratch scratch;
  std::filesystem::create_directory(scratch / "named");
  for (auto name : {"named/file", "other"}) std::ofstream(scratch / name) << "content";
  for (auto name : {"named/file", "other", "named", ""})
    std::filesystem::permissions(scratch / name, std::filesystem::perms::all);
  Sandbox sandbox{{scratch / "named"}, {}, true, true};
  EXPECT_EQ(run_sandboxed("cat " + (scratch / "named/file"), sandbox), "content");
  auto other = run_sandboxed("cat " + (scratch / "other"), sandbox);
  EXPECT_EQ(other == "content", !confines()) << other;
  auto written = run_sandboxed("echo x > " + (scratch / "named/new") + " && echo written", sandbox);
  EXPECT_EQ(written == "written\n", !confines()) << written;
}

TEST(ExecChild, RefusesWordsThatItDoesNotKnow) {
  EXPECT_EQ(must(run_child({{"/proc/self/exe", "exec-child", "--what"}, {}, ""}, "", kLong, 1000)).exit.code,
            126);
}

TEST(ExecChild, DiesWithTheThreadThatStartedIt) {
  Scratch scratch;
  Child child;
  std::thread([&] {
    child = must(Child::start(sleeper(scratch / "up")));
    wait_for(scratch / "up");
  }).join();
  EXPECT_TRUE(child.wait(kLong));
}

}  // namespace
}  // namespace dash::net
