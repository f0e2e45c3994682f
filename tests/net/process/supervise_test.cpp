#include "core/net/process/supervise.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/net/process/shell.hpp"
#include "tests/support/scratch.hpp"

namespace dash::net {
namespace {

using std::chrono::seconds;

// Waits until the file has a line, and returns it.
std::string line_of(const std::string& path) {
  std::string line;
  for (auto due = std::chrono::steady_clock::now() + kLong; std::chrono::steady_clock::now() < due;) {
    std::ifstream file(path);
    if (std::getline(file, line)) return line;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return line;
}

bool is_alive(const std::string& pid) { return ::kill(std::stoi(pid), 0) == 0; }

class Supervise : public testing::Test {
 protected:
  Command command(const std::string& script, seconds stop = seconds(30)) const {
    return supervised(shell(script), {stop, end_});
  }
  // Runs the script until `file` has a line, and then stops it.
  Result<ExitStatus> stop_once_ready(const std::string& script, seconds stop) {
    auto child = must(Child::start(command(script, stop)));
    RunOptions options;
    options.out = &out_;
    options.should_stop = [&] { return std::ifstream(ready_).peek() != EOF; };
    options.grace = kLong;
    return child.communicate(options);
  }
  Scratch scratch_;
  std::string ready_ = scratch_ / "ready";
  std::string end_ = scratch_ / "ended";
  StringSink out_{10'000};
};

TEST_F(Supervise, EndsAsItsProgramAndPassesItsOutputOn) {
  auto ran = must(run_child(command("echo out; echo err >&2; exit 7"), "", kLong, 1000));
  EXPECT_EQ(ran.exit.code, 7);
  EXPECT_EQ(ran.out + ran.err, "out\nerr\n");
  EXPECT_EQ(line_of(end_), "exit 7");
  EXPECT_EQ(must(run_child(command("kill -9 $$"), "", kLong, 1000)).exit.signal, 9);
  EXPECT_EQ(line_of(end_), "signal 9");
  EXPECT_EQ(must(run_child(supervised({{"/nowhere"}, {}, ""}, {seconds(1)}), "", kLong, 1000)).exit.code,
            126);
}

TEST_F(Supervise, InterruptsOnceAndWaitsForTheEnd) {
  auto stopped = stop_once_ready(
      "trap 'echo interrupted; sleep 0.3; echo saved; exit 1' INT; echo x > " + ready_ + "; sleep 60 & wait",
      seconds(30));
  EXPECT_FALSE(stopped);
  EXPECT_EQ(out_.text(), "interrupted\nsaved\n");
}

TEST_F(Supervise, KillsWhatDoesNotEndInTime) {
  auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(stop_once_ready("trap '' INT; echo $$ > " + ready_ + "; sleep 60; sleep 60", seconds(1)));
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds(30));
  EXPECT_FALSE(is_alive(line_of(ready_)));
}

TEST_F(Supervise, LeavesNoProcessBehind) {
  must(run_child(
      command("setsid sh -c 'echo $$ > " + ready_ + "; exec sleep 60' >/dev/null 2>&1 &\nwhile [ ! -s " +
              ready_ + " ]; do sleep 0.01; done"),
      "", kLong, 1000));
  EXPECT_FALSE(is_alive(line_of(ready_)));
}

TEST_F(Supervise, InterruptsWhenTheThreadThatStartedItEnds) {
  auto saved = scratch_ / "saved";
  Child child;
  std::thread starter([&] {
    child = must(Child::start(command("trap 'sleep 0.2; echo to nobody; echo x > " + saved +
                                      "; exit 0' INT; echo x > " + ready_ + "; sleep 60 & wait")));
    line_of(ready_);
  });
  starter.join();
  EXPECT_EQ(line_of(saved), "x") << "though its output is closed or not read";
  EXPECT_TRUE(child.wait(kLong));
}

}  // namespace
}  // namespace dash::net
