#include "core/automation/ansible.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::automation {
namespace {

namespace fs = std::filesystem;

class Ansible : public testing::Test {
 protected:
  ~Ansible() override { named_ ? ::setenv(kName, saved_.c_str(), 1) : ::unsetenv(kName); }
  std::string program(const std::string& script) {
    auto path = scratch_ / "ansible-playbook";
    std::ofstream(path) << "#!/bin/sh\n" << script;
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  static constexpr const char* kName = "AUTOMATION_ANSIBLE";
  Scratch scratch_;
  bool named_ = ::getenv(kName) != nullptr;
  std::string saved_ = named_ ? ::getenv(kName) : "";
};

TEST_F(Ansible, TheVariableNamesIt) {
  auto path = program("exit 0\n");
  ::setenv(kName, path.c_str(), 1);
  EXPECT_EQ(must(find_ansible()), path);
  ::setenv(kName, (scratch_ / "none").c_str(), 1);
  auto none = find_ansible();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Code::conflict);
  EXPECT_NE(none.error().message.find("AUTOMATION_ANSIBLE"), std::string::npos);
}

TEST_F(Ansible, ItsVersionAndFoldersAreThoseThatItReports) {
  auto path = program(R"(echo 'ansible-playbook [core 2.19.4]'
echo '  ansible python module location = )" +
                      scratch_.path() + R"(/lib/site-packages/ansible'
echo '  python version = 3.11.2 (main, Apr 28 2025) [GCC 12] ()" +
                      scratch_.path() + R"(/bin/python3)'
)");
  fs::create_directories(scratch_ / "bin");
  std::ofstream(scratch_ / "bin/python3") << "#!/bin/sh\necho " << scratch_.path() << "\necho /usr\n";
  fs::permissions(scratch_ / "bin/python3", fs::perms::owner_all);
  auto found = must(probe_ansible(path));
  EXPECT_EQ(found.version, "2.19.4");
  for (const auto& folder : {scratch_.path(), std::string("/usr"), scratch_ / "lib/site-packages"})
    EXPECT_TRUE(std::ranges::count(found.folders, folder)) << folder;
}

// As the user of a service.
TEST_F(Ansible, ItIsAskedWithAFolderOfItsOwnThatGoesAgain) {
  auto path =
      program("mkdir \"$ANSIBLE_HOME/tmp\" && echo \"$ANSIBLE_HOME\" >" + (scratch_ / "asked") + "\n");
  EXPECT_FALSE(probe_ansible(path));
  std::string home;
  std::getline(std::ifstream(scratch_ / "asked"), home);
  EXPECT_FALSE(home.empty());
  EXPECT_FALSE(fs::exists(home));
}

TEST_F(Ansible, AnotherProgramIsNone) {
  EXPECT_EQ(probe_ansible(program("echo hello\n")).error().code, Code::conflict);
  EXPECT_EQ(probe_ansible(program("echo broken >&2; exit 3\n")).error().code, Code::conflict);
}

}  // namespace
}  // namespace dash::automation
