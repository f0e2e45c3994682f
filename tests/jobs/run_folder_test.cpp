#include "core/jobs/run_folder.hpp"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::jobs {
namespace {

namespace fs = std::filesystem;

unsigned mode_of(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

class RunFolders : public testing::Test {
 protected:
  Scratch scratch_;
  const std::string data_ = scratch_ / "data";
};

TEST_F(RunFolders, GoWithTheRun) {
  std::string work;
  {
    auto folder = must(RunFolder::make(data_, "job-1"));
    work = folder.work();
    EXPECT_EQ(mode_of(work), 0700);
    std::ofstream(work + "/asset.yml") << "x";
    fs::create_directory(work + "/closed");
    ::chmod((work + "/closed").c_str(), 0);
  }
  EXPECT_FALSE(fs::exists(work));
}

TEST_F(RunFolders, KeepSecretsInMemoryOrRefuse) {
  std::string path;
  {
    auto folder = must(RunFolder::make(data_, "job-1"));
    auto added = folder.add_secret("key", "planted");
    EXPECT_EQ(added.has_value(), can_keep_secrets(data_).has_value());
    if (!added) {
      EXPECT_EQ(added.error().code, Code::conflict);
      return;
    }
    path = *added;
    struct statfs info {};
    ASSERT_EQ(::statfs(path.c_str(), &info), 0);
    EXPECT_EQ(info.f_type, TMPFS_MAGIC);
    EXPECT_EQ(mode_of(path), 0600);
    EXPECT_EQ(mode_of(must(folder.secrets())), 0700);
    EXPECT_FALSE(path.starts_with("/dev/shm"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(RunFolders, OfADeadProcessAreRemovedAndThoseInUseStay) {
  auto used = must(RunFolder::make(data_, "job-2"));
  fs::create_directories(data_ + "/work/job-1");
  std::ofstream(data_ + "/work/job-1/playbook.yml") << "- hosts: all";
  std::string secrets;
  if (auto kept = used.secrets()) {
    secrets = *kept;
    fs::create_directory(fs::path(secrets).parent_path() / "job-1");
    std::ofstream(fs::path(secrets).parent_path() / "job-1" / "key-0") << "planted";
  }
  remove_leftover_runs(data_);
  EXPECT_FALSE(fs::exists(data_ + "/work/job-1"));
  EXPECT_TRUE(fs::exists(used.work()));
  if (secrets.empty()) return;
  EXPECT_FALSE(fs::exists(fs::path(secrets).parent_path() / "job-1"));
  EXPECT_TRUE(fs::exists(secrets));
}

// A server looks for leftovers all the time.
TEST_F(RunFolders, AreNeverTakenForLeftoversWhileTheyAreMade) {
  std::atomic<bool> stop = false;
  std::thread looking([&] {
    while (!stop) remove_leftover_runs(data_);
  });
  for (int i = 0; i < 50; ++i) {
    auto folder = must(RunFolder::make(data_, fmt::format("job-{}", i)));
    EXPECT_TRUE(fs::exists(folder.work()));
    EXPECT_TRUE(can_keep_secrets(data_));
    auto path = folder.add_secret("key", "planted");
    EXPECT_TRUE(!path || fs::exists(*path));
  }
  stop = true;
  looking.join();
}

}  // namespace
}  // namespace dash::jobs
