#include "core/storage/settings/locked_state.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "core/base/fd.hpp"
#include "core/base/file.hpp"
#include "core/storage/store/local/file_store.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::storage {
namespace {

constexpr auto kInfo =
    R"({"ID":"id-1","Who":"ann@host","Operation":"apply","Created":"2026-01-01T00:00:00Z"})";
constexpr auto kOther = R"({"ID":"id-2","Who":"bob@host"})";

// The parameter is the backend.
class LockedStates : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<LockedState> open() {
    auto opener = [this](const Backend&, const config::Values&) {
      return Result<std::shared_ptr<ObjectStore>>(store_);
    };
    config::Values none;
    return must(LockedState::open(
        must(StatePlace::open(opener, {must(find_backend(GetParam())), &none}, scratch_ / "deploy")), "j1"));
  }
  Scratch scratch_;
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

TEST_P(LockedStates, AreReadAndWrittenUnderTheLock) {
  auto state = open();
  EXPECT_EQ(must(state->read()), "");
  EXPECT_EQ(state->write("1").error().code, Code::conflict);
  EXPECT_FALSE(must(state->lock(kInfo)));
  must(state->write("1"));
  must(state->write("2"));
  EXPECT_EQ(must(open()->read()), "2");
  EXPECT_EQ(must(open()->holder())->who, "ann@host");
  must(state->unlock());
  EXPECT_FALSE(must(open()->holder()));
  EXPECT_EQ(state->write("3").error().code, Code::conflict);
  EXPECT_EQ(must(open()->read()), "2");
}

TEST_P(LockedStates, TellWhoHoldsTheLock) {
  auto state = open(), other = open();
  EXPECT_FALSE(must(state->lock(kInfo)));
  EXPECT_EQ(must(other->lock(kOther))->id, "id-1");
  EXPECT_EQ(other->write("1").error().code, Code::conflict);
  EXPECT_EQ(other->unlock().error().code, Code::conflict);
  EXPECT_FALSE(must(other->adopt("id-2")));
  must(state->unlock());
  EXPECT_FALSE(must(other->lock(kOther)));
}

TEST_P(LockedStates, AdoptTheLockOfAProcessThatEnded) {
  EXPECT_FALSE(must(open()->lock(kInfo)));
  auto state = open();
  ASSERT_TRUE(must(state->adopt("id-1")));
  must(state->write("1"));
  must(state->unlock());
  EXPECT_FALSE(must(open()->holder()));
}

INSTANTIATE_TEST_SUITE_P(Stores, LockedStates,
                         testing::Values("obj_cloud1", "obj_cloud3", "obj_cloud4", "local"));

class FileStates : public LockedStates {
 protected:
  // Asks as another process does, through a lock of POSIX.
  bool is_free() const {
    auto pid = ::fork();
    if (pid == 0) {
      int fd = ::open(path_.c_str(), O_RDWR);
      struct flock lock {};
      lock.l_type = F_WRLCK;
      ::_exit(fd >= 0 && ::fcntl(fd, F_SETLK, &lock) == 0 ? 0 : 1);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return status == 0;
  }
  std::string path_ = scratch_ / "deploy/j1/terraform.tfstate";
};

TEST_P(FileStates, KeepAProgramOutWhateverFileHasTheName) {
  auto state = open();
  EXPECT_FALSE(must(state->lock(kInfo)));
  EXPECT_FALSE(is_free());
  must(state->write("1"));
  EXPECT_FALSE(is_free()) << "the file is another one now";
  must(state->unlock());
  EXPECT_TRUE(is_free());
}

TEST_P(FileStates, AreKeptOutByAProgram) {
  std::filesystem::create_directories(scratch_ / "deploy/j1");
  must(write_file(path_, "1", 0600));
  Fd fd(::open(path_.c_str(), O_RDWR));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  ASSERT_EQ(::fcntl(fd.get(), F_OFD_SETLK, &lock), 0);
  EXPECT_EQ(must(open()->lock(kInfo))->who, "a program on this machine");
}

TEST_P(FileStates, LeaveNothingOfARunThatWroteNothing) {
  auto state = open();
  EXPECT_FALSE(must(state->lock(kInfo)));
  must(state->unlock());
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "deploy/j1"));
}

INSTANTIATE_TEST_SUITE_P(Local, FileStates, testing::Values("local"));

}  // namespace
}  // namespace dash::storage
