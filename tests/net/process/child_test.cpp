#include "core/net/process/child.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/net/process/child_spawner.hpp"
#include "core/net/process/exec_child.hpp"
#include "tests/net/process/shell.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::net {
namespace {

using std::chrono::milliseconds;

char state_of(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  auto after = text.rfind(") ");
  return after == text.npos ? 'X' : text[after + 2];
}

TEST(RunChild, GivesOutputErrorsAndStatus) {
  auto ran = must(run_child(shell("cat; echo oops >&2; exit 3"), "hello", kLong, 1000));
  EXPECT_EQ(ran.out, "hello");
  EXPECT_EQ(ran.err, "oops\n");
  EXPECT_EQ(ran.exit.code, 3);
  EXPECT_FALSE(ran.exit.ok());
}

TEST(RunChild, PassesMoreThanAPipeHolds) {
  std::string big(3u << 20, 'x');
  EXPECT_EQ(must(run_child(shell("cat"), big, kLong, big.size())).out, big);
}

TEST(RunChild, GivesAnEnvironmentThatIsNamedAndNoFileOfOurs) {
  auto ran = must(run_child({{"/usr/bin/env"}, {"A=1"}, ""}, "", kLong, 1000));
  EXPECT_EQ(ran.out, "A=1\n");
  int leaked = ::open("/dev/null", O_RDONLY);  // without close-on-exec
  auto files = must(run_child({{"/bin/ls", "/proc/self/fd"}, {}, ""}, "", kLong, 1000)).out;
  EXPECT_EQ(files, "0\n1\n2\n3\n");  // the last is ls's own
  ::close(leaked);
}

TEST(RunChild, EndsAProgramAndItsChildrenAtTheDeadline) {
  auto ran = run_child(shell("sleep 1000 & sleep 1000"), "", milliseconds(100), 1000);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, Code::timeout);
}

TEST(RunChild, EndsAProgramAndItsChildrenWhenItIsToldToStop) {
  Scratch scratch;
  auto pid = scratch / "pid";
  auto started = [&] { return std::filesystem::exists(pid) && std::filesystem::file_size(pid) > 0; };
  auto ran =
      run_child(shell("trap '' TERM; sleep 1000 & echo $! > " + pid + "; wait"), "", kLong, 1000, started);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, Code::interrupted);
  int child = 0;
  std::ifstream(pid) >> child;
  EXPECT_TRUE(wait_until([&] { return ::kill(child, 0) != 0 || state_of(child) == 'Z'; }));
}

TEST(Child, NeverWaitsForAReaderOfWhatIsDiscarded) {
  auto child = must(Child::start(shell("head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2")));
  EXPECT_TRUE(wait_until([&] {
    if (child.running()) child.discard_output();
    return !child.running();
  }));
}

TEST(RunChild, EndsAProgramThatWritesWithoutEnd) {
  auto ran = run_child({{"/usr/bin/yes"}, {}, ""}, "", kLong, 100'000);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, Code::too_large);
}

TEST(RunChild, NamesAProgramThatIsNotThere) {
  auto ran = run_child({{"/no/such/program"}, {}, ""}, "", kLong, 1000);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, Code::unreachable);
  EXPECT_NE(ran.error().message.find("/no/such/program"), std::string::npos);
}

TEST(RunChild, EndsAGrandchildThatKeepsThePipe) {
  auto ran = must(run_child(shell("sleep 1000 & echo $!"), "", kLong, 1000));
  int grandchild = std::stoi(ran.out);
  EXPECT_TRUE(wait_until(
      [&] { return std::string_view("XZ").find(state_of(grandchild)) != std::string_view::npos; }));
}

TEST(Child, StopsPolitelyAndThenFirmly) {
  for (auto script : {"trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.01; done",
                      "trap '' TERM; echo up; while :; do sleep 0.01; done"}) {
    auto child = must(Child::start(shell(script)));
    StringSink sink(1000);
    const auto& heard = sink.text();
    RunOptions options;
    options.out = &sink;
    options.should_stop = [&] { return heard.find("up") != heard.npos; };
    options.grace = milliseconds(300);
    auto end = child.communicate(options);
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().code, Code::interrupted);
    EXPECT_FALSE(child.running());
    EXPECT_EQ(heard.find("bye") != heard.npos, std::string_view(script).starts_with("trap 'echo"));
  }
}

TEST(Child, EndsWithItsOwner) {
  int pid = 0;
  {
    auto child = must(Child::start(shell("sleep 1000")));
    pid = child.pid();
    EXPECT_TRUE(child.running());
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

std::chrono::steady_clock::time_point in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

TEST(ChildExchange, AnswersManyQuestionsOverOnePairOfPipes) {
  auto child = must(Child::start({{"/bin/cat"}, {}, ""}));
  for (std::string text : {"one", "two"}) {
    must(child.send(text, in(std::chrono::seconds(10))));
    std::string back(text.size(), '\0');
    must(child.receive(back, in(std::chrono::seconds(10))));
    EXPECT_EQ(back, text);
  }
}

TEST(ChildExchange, GivesUpOnAChildThatSaysNothing) {
  auto child = must(Child::start({{"/bin/cat"}, {}, ""}));
  std::string back(1, '\0');
  EXPECT_EQ(child.receive(back, in(std::chrono::milliseconds(1))).error().code, Code::timeout);
}

TEST(ChildExchange, TellsThatTheChildEnded) {
  auto child = must(Child::start({{"/bin/true"}, {}, ""}));
  std::string back(1, '\0');
  EXPECT_EQ(child.receive(back, in(std::chrono::seconds(10))).error().code, Code::unreachable);
}

}  // namespace
}  // namespace dash::net
