#include "core/agent/remote/done_jobs.hpp"

#include <gtest/gtest.h>

#include "core/base/file.hpp"
#include "tests/support/scratch.hpp"

namespace dash::agent {
namespace {

TEST(DoneJobs, AreKnownAfterARestart) {
  Scratch scratch;
  {
    auto done = must(DoneJobs::open(scratch.path()));
    EXPECT_FALSE(done.has("a"));
    must(done.add("a"));
    must(done.add("b"));
  }
  auto done = must(DoneJobs::open(scratch.path()));
  EXPECT_TRUE(done.has("a"));
  EXPECT_TRUE(done.has("b"));
}

TEST(DoneJobs, DropWhatACrashToreOff) {
  Scratch scratch;
  must(write_file(scratch / "jobs.done", "whole\nha", 0600));
  auto done = must(DoneJobs::open(scratch.path()));
  EXPECT_TRUE(done.has("whole"));
  EXPECT_FALSE(done.has("ha"));
  must(done.add("next"));
  EXPECT_EQ(must(read_file(scratch / "jobs.done", 100)), "whole\nnext\n");
}

TEST(DoneJobs, KeepTheNewest) {
  Scratch scratch;
  std::string text;
  for (std::size_t i = 0; i <= kKeptJobIds; ++i) text += fmt::format("job-{}\n", i);
  must(write_file(scratch / "jobs.done", text, 0600));
  auto done = must(DoneJobs::open(scratch.path()));
  EXPECT_FALSE(done.has("job-0"));
  EXPECT_TRUE(done.has("job-1"));
  EXPECT_TRUE(done.has(fmt::format("job-{}", kKeptJobIds)));
}

TEST(DoneJobs, SayWhenTheyCannotBeWritten) {
  Scratch scratch;
  auto done = must(DoneJobs::open(scratch.path()));
  std::filesystem::create_directory(scratch / "jobs.done");
  EXPECT_FALSE(done.add("a"));
  EXPECT_FALSE(done.has("a"));
}

}  // namespace
}  // namespace dash::agent
