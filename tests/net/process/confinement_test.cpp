#include "core/net/process/confinement.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/net/process/landlock.hpp"
#include "tests/net/process/shell.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::net {
namespace {

class ConfinedRun : public testing::Test {
 protected:
  ConfinedRun() {
    for (std::string folder : {"work", "data", "data/work/other", "ansible"})
      std::filesystem::create_directories(scratch_ / folder);
    for (std::string file : {"data/dashctl.db", "data/signing.key", "data/work/other/asset", "ansible/tool"})
      std::ofstream(scratch_ / file) << "content";
    ::chmod((scratch_ / "ansible/tool").c_str(), 0755);
    confinement_.work = {scratch_ / "work"};
    confinement_.read = {scratch_ / "ansible"};
  }
  void SetUp() override {
    if (!can_confine()) GTEST_SKIP() << can_confine().error().message;
  }
  ProcessResult run(const std::string& script) {
    Command command = shell(script);
    command.cwd = scratch_ / "work";
    command.env = {"PATH=/usr/bin:/bin"};
    return must(run_child(confined(command, confinement_), "", kLong, 100'000));
  }
  std::string output(const std::string& script) {
    auto done = run(script);
    return done.out + done.err;
  }
  std::string content(const std::string& file) {
    std::ifstream in(scratch_ / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  Scratch scratch_;
  Confinement confinement_;
};

TEST_F(ConfinedRun, ReachesNothingOfTheInstance) {
  for (std::string path : {scratch_ / "data/dashctl.db", scratch_ / "data/signing.key",
                           scratch_ / "data/work/other/asset", fmt::format("/proc/{}/environ", ::getpid()),
                           std::string("/etc/shadow"), std::string("/proc/self/environ")}) {
    EXPECT_NE(run("cat " + path).exit.code, 0) << path;
    EXPECT_NE(run("echo x >> " + path).exit.code, 0) << path;
    EXPECT_NE(run("truncate -s 0 " + path).exit.code, 0) << path;
  }
  EXPECT_NE(run("rm " + (scratch_ / "data/dashctl.db")).exit.code, 0);
  EXPECT_NE(run("ls " + (scratch_ / "data")).exit.code, 0);
  EXPECT_EQ(content("data/dashctl.db"), "content");
}

TEST_F(ConfinedRun, WorksInItsFolderAndWithWhatIsNamed) {
  EXPECT_EQ(output("printf '#!/bin/sh\\necho ran' > x; chmod 755 x; ./x; rm x; mkdir d; mv d e; ls"),
            "ran\ne\n");
  EXPECT_EQ(output("cat " + (scratch_ / "ansible/tool")), "content");
  EXPECT_NE(run("echo x > " + (scratch_ / "ansible/tool")).exit.code, 0);
  EXPECT_EQ(
      output(
          "echo gone > /dev/null; head -c 0 /dev/urandom; id -u root; getent hosts localhost >/dev/null && "
          "echo resolved"),
      "0\nresolved\n");
}

TEST_F(ConfinedRun, HasNoCapabilityAndNoCore) {
  auto limits = output("ulimit -c; ulimit -v");
  EXPECT_EQ(limits.substr(0, 2), "0\n");  // in blocks; the limit is one byte
  if (::geteuid() == 0) {
    EXPECT_NE(run("chown 65534 /dev/shm/. || mknod n c 1 3").exit.code, 0);
  }
}

TEST_F(ConfinedRun, EndsAtItsMemoryLimit) {
  confinement_.memory_bytes = 64u << 20;
  EXPECT_NE(run("yes | head -c 200000000 | tail -c 190000000 > /dev/null").exit.code, 0);
}

// The system calls of the script are those that Landlock does not know below ABI 3.
TEST_F(ConfinedRun, TruncatesNothingWhereLandlockDoesNotForbidIt) {
  if (!std::filesystem::exists("/usr/bin/python3")) GTEST_SKIP() << "needs python3";
  confinement_.max_abi = 2;
  confinement_.read.push_back(scratch_ / "data/dashctl.db");  // readable, and still not to be truncated
  auto tried = output(
      "/usr/bin/python3 - <<'E'\n"
      "import os, ctypes\n"
      "path = '" +
      (scratch_ / "data/dashctl.db") +
      "'\n"
      "libc = ctypes.CDLL(None, use_errno=True)\n"
      "def attempt(action):\n"
      "    try:\n"
      "        action()\n"
      "    except OSError:\n"
      "        pass\n"
      "attempt(lambda: os.truncate(path, 0))\n"
      "for mode in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, 3):\n"
      "    attempt(lambda: os.open(path, mode | os.O_TRUNC))\n"
      "how = (ctypes.c_uint64 * 3)(os.O_TRUNC | 3, 0, 0)\n"
      "print('openat2', libc.syscall(437, -100, path.encode(), how, 24))\n"
      "print('io_uring', libc.syscall(425, 8, ctypes.create_string_buffer(120)))\n"
      "with open('own', 'w') as own: own.write('x')\n"
      "open('own', 'w').close()\n"
      "print(os.path.getsize('own'))\n"
      "E\n");
  EXPECT_EQ(tried, "openat2 -1\nio_uring -1\n0\n");
  EXPECT_EQ(content("data/dashctl.db"), "content");
}

TEST_F(ConfinedRun, IsRefusedWhereNothingConfines) {
  auto refused = can_confine(0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_NE(refused.error().message.find("automation_unconfined"), std::string::npos);
  confinement_.is_confined = false;
  EXPECT_EQ(output("cat " + (scratch_ / "data/dashctl.db")), "content");
}

TEST_F(ConfinedRun, SignalsNobodyOutside) {
  if (landlock_abi() < 6) GTEST_SKIP() << "Landlock before ABI 6 lets signals through";
  EXPECT_NE(run(fmt::format("kill -0 {}", ::getpid())).exit.code, 0);
  EXPECT_NE(run("kill -9 $PPID").exit.code, 137);
}

}  // namespace
}  // namespace dash::net
