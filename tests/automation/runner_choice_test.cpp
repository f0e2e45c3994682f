#include "core/automation/runner_choice.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::automation {
namespace {

namespace fs = std::filesystem;

TEST(RunnerName, TheRequestWinsThenTheCloudThenTheSetting) {
  config::Values values{{"automation_runner", "ecs"}, {"automation_runner_azure", " aci "}};
  EXPECT_EQ(runner_name("mine", "cloud2", values), "mine");
  EXPECT_EQ(runner_name("", "cloud2", values), "aci");
  EXPECT_EQ(runner_name("", "cloud1", values), "ecs");
  EXPECT_EQ(runner_name("", "", values), "ecs");
  EXPECT_EQ(runner_name("", "", {}), "local");
  EXPECT_EQ(runner_name("Local", "", values), "local");
}

class ChooseRunner : public testing::Test {
 protected:
  void put(const std::string& name, fs::perms mode = fs::perms::owner_all) {
    std::ofstream(scratch_ / name) << "#!/bin/sh\n";
    fs::permissions(scratch_ / name, mode);
  }
  Scratch scratch_;
  jobs::Executors executors_{scratch_.path(), ""};
};

TEST_F(ChooseRunner, LocalIsAnsibleUnlessAnOperatorPutAnExecutableThere) {
  EXPECT_EQ(must(choose_runner("local", executors_)).executable, "");
  put("config-mgmt-run");
  EXPECT_EQ(fs::path(must(choose_runner("local", executors_)).executable).filename(), "config-mgmt-run");
  fs::permissions(scratch_ / "config-mgmt-run", fs::perms::all);
  EXPECT_EQ(choose_runner("local", executors_).error().code, Code::conflict) << "others may write it";
}

TEST_F(ChooseRunner, AnotherOneIsAnExecutableOfItsName) {
  auto missing = choose_runner("ecs", executors_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::conflict);
  EXPECT_NE(missing.error().message.find("'ecs'"), std::string::npos);
  EXPECT_NE(missing.error().message.find("runner-ecs"), std::string::npos);
  put("runner-ecs");
  EXPECT_EQ(fs::path(must(choose_runner("ecs", executors_)).executable).filename(), "runner-ecs");
  for (auto name : {"../runner-ecs", ".", "a/b", "a b", "ecs\n"})
    EXPECT_EQ(choose_runner(name, executors_).error().code, Code::conflict) << name;
}

}  // namespace
}  // namespace dash::automation
