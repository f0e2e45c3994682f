#include "core/net/process/supervisor.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/file.hpp"
#include "core/net/process/confinement.hpp"
#include "core/net/process/descendants.hpp"
#include "tests/net/process/shell.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::net {
namespace {

Command supervised(const std::string& script, int stop_signal = SIGTERM, std::chrono::seconds grace = {}) {
  Confinement confinement;
  confinement.is_confined = false;
  confinement.stop_signal = stop_signal;
  confinement.stop_grace = grace;
  Command command = shell(script);
  command.env = {"PATH=/usr/bin:/bin"};
  return confined(command, confinement);
}

pid_t pid_in(const std::string& path) {
  pid_t pid = 0;
  EXPECT_TRUE(wait_until([&] { return static_cast<bool>(std::ifstream(path) >> pid); }));
  return pid;
}

bool is_alive(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(status, line);
  return !line.empty() && line.find(") Z") == line.npos;
}

class Supervised : public testing::Test {
 protected:
  // A process of a session of its own that keeps no pipe of its parents.
  std::string escapes() {
    return "setsid sh -c 'echo $$ > " + (scratch_ / "escaped") +
           "; exec sleep 1000' </dev/null >/dev/null 2>&1 &\n"
           "while ! test -s " +
           (scratch_ / "escaped") + "; do :; done\n";
  }
  Scratch scratch_;
};

TEST_F(Supervised, GivesInputAndOutputAndItsExitOn) {
  auto done =
      must(run_child(supervised("cat; echo err >&2; exit 7"), std::string(100'000, 'x'), kLong, 200'000));
  EXPECT_EQ(done.exit.code, 7);
  EXPECT_EQ(done.out.size(), 100'000u);
  EXPECT_EQ(done.err, "err\n");
  EXPECT_EQ(must(run_child(supervised("kill -9 $$"), "", kLong, 1000)).exit.signal, 9);
}

TEST_F(Supervised, LeavesNoProcessBehindWhenItsProgramEnds) {
  EXPECT_TRUE(must(run_child(supervised(escapes() + "exit 0"), "", kLong, 1000)).exit.ok());
  EXPECT_FALSE(is_alive(pid_in(scratch_ / "escaped")));
}

TEST_F(Supervised, EndsProcessesOfOtherSessionsAtTheDeadline) {
  auto child = must(Child::start(supervised(escapes() + "sleep 1000")));
  auto escaped = pid_in(scratch_ / "escaped");
  RunOptions options;
  options.timeout = std::chrono::milliseconds(1);
  EXPECT_EQ(child.communicate(options).error().code, Code::timeout);
  EXPECT_FALSE(is_alive(escaped));
}

TEST_F(Supervised, StopsWithTheSignalThatWasAskedFor) {
  auto child = must(
      Child::start(supervised("trap 'echo interrupted; exit 3' INT; echo up; while :; do sleep 0.02; done",
                              SIGINT, std::chrono::seconds(20))));
  StringSink out(1000);
  RunOptions options;
  options.out = &out;
  options.should_stop = [&] { return out.text().find("up") != std::string::npos; };
  options.grace = kLong;
  EXPECT_EQ(child.communicate(options).error().code, Code::interrupted);
  EXPECT_EQ(out.text(), "up\ninterrupted\n");
  EXPECT_EQ(child.exit_status().code, 3);
}

TEST_F(Supervised, NotesHowItsProgramEndedWhenEverythingHas) {
  Sandbox sandbox;
  sandbox.unprivileged = sandbox.landlock = false;
  sandbox.supervised_stop_signal = SIGINT;
  sandbox.end_file = scratch_ / "ended";
  auto end_of = [&](const std::string& script) {
    std::ignore = must(run_child(sandboxed(shell(script), sandbox), "", kLong, 1000));
    return must(read_file(sandbox.end_file, 100));
  };
  EXPECT_EQ(end_of("exit 7"), "exit 7");
  EXPECT_EQ(end_of("kill -9 $$"), "signal 9");
}

TEST_F(Supervised, KillsByItselfWhatDoesNotStopInTime) {
  auto child = must(Child::start(
      supervised("trap '' INT; echo up; while :; do sleep 0.02; done", SIGINT, std::chrono::seconds(1))));
  StringSink out(1000);
  RunOptions options;
  options.out = &out;
  options.should_stop = [&] { return out.text().find("up") != std::string::npos; };
  options.grace = kLong;
  auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(child.communicate(options));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(15));
  EXPECT_EQ(child.exit_status().signal, SIGKILL);
}

// The thread's death stands for that of the server: the program may write on and end by itself.
TEST_F(Supervised, LetsItsProgramEndWhenTheServerDied) {
  auto server = ::fork();
  if (server == 0) {
    auto script = "trap 'sleep 0.1; echo more; echo saved > " + (scratch_ / "state") +
                  "; exit 0' INT; echo $$ > " + (scratch_ / "up") + "; while :; do sleep 0.02; done";
    auto child = Child::start(supervised(script, SIGINT, std::chrono::seconds(20)));
    ::pause();
    ::_exit(0);
  }
  auto program = pid_in(scratch_ / "up");
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
  wait_for(scratch_ / "state");
  EXPECT_TRUE(wait_until([&] { return !is_alive(program); }));
}

TEST_F(Supervised, KillsAProgramThatDoesNotStopWhenTheServerDied) {
  auto server = ::fork();
  if (server == 0) {
    auto child = Child::start(supervised(
        "trap '' INT TERM; echo $$ > " + (scratch_ / "up") + "; while :; do sleep 0.02; done", SIGINT));
    ::pause();
    ::_exit(0);
  }
  auto program = pid_in(scratch_ / "up");
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
  EXPECT_TRUE(wait_until([&] { return !is_alive(program); }));
}

TEST(Descendants, AreFoundBelowTheirRootAndKilled) {
  auto child = must(Child::start(shell("sleep 1000 & sleep 1000 & wait")));
  EXPECT_TRUE(wait_until([&] { return descendants_of(child.pid()).size() == 2; }));
  kill_descendants(child.pid());
  EXPECT_TRUE(descendants_of(child.pid()).empty());
}

}  // namespace
}  // namespace dash::net
