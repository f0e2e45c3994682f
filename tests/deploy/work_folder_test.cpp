#include "core/deploy/work_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "core/base/file.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::deploy {
namespace {

TEST(WorkFolders, AreForThisUserAlone) {
  Scratch scratch;
  WorkFolder folder(scratch / "work", "j1");
  ModuleFolder module{"", {{"main.tf", "x", false}}, {}};
  must(folder.create("d1", {module, Json{{"name", "web"}}, "lock", ""}));
  must(folder.write_credentials({{{".oci/key.pem", "k"}}, {}, {}}));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch / "work")) {
    struct stat status {};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 077, 0u) << entry.path();
  }
  EXPECT_EQ(folder.state_job(), "d1");
  EXPECT_EQ(must(folder.dependency_lock()), "lock");
  EXPECT_FALSE(folder.create("d1", {module, {}, "", ""}));
  must(folder.remove());
  EXPECT_EQ(folder.state_job(), "");
}

TEST(WorkFolders, KnowHowTheirProgramEnded) {
  Scratch scratch;
  WorkFolder folder(scratch / "work", "j1");
  must(folder.create("d1", {ModuleFolder(), {}, "", ""}));
  EXPECT_EQ(folder.program_end(), ProgramEnd::in_order) << "none was started";
  must(folder.note_program(1));
  EXPECT_EQ(folder.program_end(), ProgramEnd::unknown) << "the number belongs to another process";
  must(write_file(folder.end_file(), "exit 1", 0600));
  EXPECT_EQ(folder.program_end(), ProgramEnd::in_order);
  must(write_file(folder.end_file(), "signal 9", 0600));
  EXPECT_EQ(folder.program_end(), ProgramEnd::unknown);
  EXPECT_FALSE(must(folder.errored_state()));
  must(write_file(folder.program_folder() + "/errored.tfstate", "s", 0600));
  EXPECT_EQ(must(folder.errored_state()), "s");
}

TEST(ProgramSettings, TakeWhatTheMirrorHasFromThereAlone) {
  Scratch scratch;
  std::filesystem::create_directories(scratch / "providers/registry.terraform.io/hashicorp/aws/5.0.0");
  auto text = must(program_settings(scratch / "providers"));
  EXPECT_NE(text.find("path = \"" + (scratch / "providers") + "\""), std::string::npos) << text;
  EXPECT_NE(text.find(R"(exclude = ["registry.terraform.io/hashicorp/aws"])"), std::string::npos) << text;
  EXPECT_EQ(must(program_settings("")), "disable_checkpoint = true\n");
}

}  // namespace
}  // namespace dash::deploy
