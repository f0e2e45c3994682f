#include "core/deploy/module.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "core/base/file.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::deploy {
namespace {

constexpr std::string_view kVariables =
    "variable \"region\" {}\nvariable \"instance_type\" {}\nvariable \"image\" {}\nvariable \"name\" {}\n";
const std::string kAction = "cloud1:vm:deploy";

class Modules : public testing::Test {
 protected:
  void write(const std::string& path, std::string_view text, unsigned mode = 0644) {
    auto full = std::filesystem::path(scratch_ / path);
    std::filesystem::create_directories(full.parent_path());
    for (auto folder = full.parent_path(); folder != scratch_ / ""; folder = folder.parent_path()) {
      if (folder.string().size() < (scratch_ / "").size()) break;
      ::chmod(folder.c_str(), 0755);
    }
    must(write_file(full, text, mode));
  }
  Result<std::optional<ModuleFolder>> read() { return read_module(folder(), kAction, ::geteuid()); }
  std::string refusal() {
    auto module = read();
    return module ? std::string() : module.error().message;
  }
  std::string folder() const { return scratch_ / "deploy"; }
  Scratch scratch_;
};

TEST_F(Modules, FindsTheFolderInEitherSpelling) {
  EXPECT_FALSE(must(read()));
  write("deploy/aws-ec2-deploy/main.tf", kVariables);
  EXPECT_EQ(must(read())->path, folder() + "/aws-ec2-deploy");
  write("deploy/cloud1-vm-deploy/main.tf", kVariables);
  write("deploy/cloud1-vm-deploy/more.tf.json", R"({"variable": {"size": {}}})");
  write("deploy/cloud1-vm-deploy/nested/main.tf", "variable \"inner\" {}\n");
  write("deploy/cloud1-vm-deploy/run.sh", "#!/bin/sh\n", 0755);
  auto module = *must(read());
  EXPECT_EQ(module.path, folder() + "/cloud1-vm-deploy");
  EXPECT_EQ(module.variables.size(), 5u);
  EXPECT_TRUE(module.variables.contains("size"));
  ASSERT_EQ(module.files.size(), 4u);
  EXPECT_TRUE(module.files[3].is_executable);
}

TEST_F(Modules, NamesTheFolderAndTheVariableThatIsNotDeclared) {
  write("deploy/cloud1-vm-deploy/main.tf",
        "variable \"region\" {}\nvariable \"image\" {}\nvariable \"name\" {}\n");
  EXPECT_NE(refusal().find(folder() + "/cloud1-vm-deploy does not declare the variable instance_type"),
            std::string::npos)
      << refusal();
  write("deploy/cloud1-vm-deploy/main.tf", "variable \"region\" {");
  EXPECT_NE(refusal().find("main.tf: line 1"), std::string::npos) << refusal();
}

TEST_F(Modules, RefusesAStateAndTooManyBytes) {
  write("deploy/cloud1-vm-deploy/main.tf", kVariables);
  write("deploy/cloud1-vm-deploy/old/terraform.tfstate", "{}");
  EXPECT_NE(refusal().find("old/terraform.tfstate"), std::string::npos) << refusal();
  std::filesystem::remove_all(folder() + "/cloud1-vm-deploy/old");
  write("deploy/cloud1-vm-deploy/.terraform/terraform.tfstate", "{}");
  EXPECT_EQ(refusal(), "") << "what a run by hand left";
  write("deploy/cloud1-vm-deploy/big", std::string(kMaxModuleBytes, 'x'));
  EXPECT_NE(refusal().find("more than"), std::string::npos) << refusal();
}

TEST_F(Modules, RefusesWhatOthersMayWrite) {
  write("deploy/cloud1-vm-deploy/main.tf", kVariables);
  for (std::string path : {"deploy/cloud1-vm-deploy/main.tf", "deploy/cloud1-vm-deploy", "deploy"}) {
    auto full = scratch_ / path;
    struct stat before {};
    ASSERT_EQ(::stat(full.c_str(), &before), 0);
    ::chmod(full.c_str(), 0777);
    EXPECT_NE(refusal().find("may be written by others"), std::string::npos) << path;
    ::chmod(full.c_str(), before.st_mode & 07777);
  }
  EXPECT_EQ(refusal(), "");
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown((folder() + "/cloud1-vm-deploy/main.tf").c_str(), 65534, 0), 0);
  EXPECT_NE(refusal().find("belongs to"), std::string::npos);
}

TEST_F(Modules, RefusesALinkThatLeadsOut) {
  write("outside.tf", kVariables);
  write("deploy/cloud1-vm-deploy/main.tf", kVariables);
  std::filesystem::create_symlink("main.tf", folder() + "/cloud1-vm-deploy/alias.tf");
  EXPECT_EQ(refusal(), "");
  std::filesystem::create_symlink(scratch_ / "outside.tf", folder() + "/cloud1-vm-deploy/more.tf");
  EXPECT_NE(refusal().find("leads out"), std::string::npos) << refusal();
  std::filesystem::remove_all(folder() + "/cloud1-vm-deploy");
  write("elsewhere/main.tf", kVariables);
  std::filesystem::create_directory_symlink(scratch_ / "elsewhere", folder() + "/cloud1-vm-deploy");
  EXPECT_NE(refusal().find("leads out"), std::string::npos) << refusal();
}

TEST_F(Modules, APackedModuleIsTheSameAgain) {
  write("deploy/cloud1-vm-deploy/main.tf", kVariables);
  write("deploy/cloud1-vm-deploy/scripts/run.sh", std::string("#!/bin/sh\0x", 11), 0755);
  auto module = *must(read());
  auto packed = pack_module(module);
  auto again = must(unpack_module(packed));
  EXPECT_EQ(pack_module(again), packed);
  EXPECT_EQ(again.variables, module.variables);
  std::filesystem::create_directory(scratch_ / "work");
  must(write_module(again, scratch_ / "work"));
  EXPECT_EQ(::access((scratch_ / "work/scripts/run.sh").c_str(), X_OK), 0);
  EXPECT_FALSE(unpack_module(R"({"files": [{"path": "../x", "bytes": "", "executable": false}]})"));
}

TEST_F(Modules, AWholeTreeIsChecked) {
  write("providers/host/x/y.zip", "z");
  must(check_trusted_tree(scratch_ / "providers", ::geteuid()));
  ::chmod((scratch_ / "providers/host/x").c_str(), 0777);
  EXPECT_FALSE(check_trusted_tree(scratch_ / "providers", ::geteuid()));
}

}  // namespace
}  // namespace dash::deploy
