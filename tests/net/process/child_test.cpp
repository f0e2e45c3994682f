#include "core/net/process/child.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "core/net/process/child_spawner.hpp"
#include "core/net/process/exec_child.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::net {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{20'000};

Command shell(std::string script) { return {{"/bin/sh", "-c", std::move(script)}, {}, ""}; }

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

std::string run_sandboxed(const std::string& script, const Sandbox& sandbox) {
  auto ran = must(run_child(sandboxed(shell(script), sandbox), "", kLong, 10'000));
  return ran.out + ran.err;
}

TEST(ExecChild, TakesAwayPrivilegesAndTheUserRoot) {
  auto said = run_sandboxed("id -u; grep NoNewPrivs /proc/self/status", {{"/proc"}, {}, true, true});
  EXPECT_EQ(said.starts_with("65534\n"), ::geteuid() == 0) << said;
  EXPECT_NE(said.find("NoNewPrivs:\t1"), std::string::npos) << said;
}

// Whether the kernel confines at all: /etc is not among the named paths.
bool confines() {
  return run_sandboxed("cat /etc/passwd", {{}, {}, true, true}).find("ermission denied") != std::string::npos;
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

// Runs until killed, and has made `marker` once it is up.
Command sleeper(const std::string& marker) {
  return sandboxed(shell("echo up > " + marker + "; sleep 1000"), {{}, {}, false, false});
}

void wait_for(const std::string& path) {
  EXPECT_TRUE(wait_until([&] { return std::filesystem::exists(path); }));
}

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
