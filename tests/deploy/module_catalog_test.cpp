#include "core/deploy/module_catalog.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::deploy {
namespace {

constexpr std::string_view kFour = R"(
variable "region" {}
variable "instance_type" {}
variable "image" {}
variable "name" {}
variable "zone" { default = "" }
)";

class Catalog : public testing::Test {
 protected:
  void module(const std::string& folder, const std::string& text) {
    std::filesystem::create_directories(scratch_ / ("deploy/" + folder));
    std::ofstream(scratch_ / ("deploy/" + folder + "/main.tf")) << text;
  }
  std::optional<jobs::DeclaredVariables> declared(const std::string& action = "cloud1:vm:deploy") {
    return must(ModuleCatalog(scratch_ / "deploy", ::geteuid()).declared(action));
  }
  Scratch scratch_;
};

TEST_F(Catalog, NamesWhatACallerMaySet) {
  EXPECT_FALSE(declared());
  module("aws-ec2-deploy", std::string(kFour) + R"(
variable "disk_gb" { default = 10 }
variable "token" { sensitive = true })");
  auto found = declared();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->size(), 2u);
  EXPECT_FALSE(found->at("disk_gb").is_required);
  EXPECT_TRUE(found->at("token").is_required);
  EXPECT_TRUE(found->at("token").is_sensitive);
  EXPECT_FALSE(declared("cloud2:vm:deploy"));
}

TEST_F(Catalog, AnExecutableComesFirst) {
  module("cloud1-vm-deploy-of-old", std::string(kFour));
  module("aws-ec2-deploy", std::string(kFour));
  EXPECT_TRUE(declared());
  auto program = scratch_ / "deploy/cloud1-vm-deploy";
  std::ofstream(program) << "#!/bin/sh\n";
  ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
  EXPECT_FALSE(declared());
}

TEST_F(Catalog, AModuleThatIsNotRunDeclaresNothing) {
  module("cloud1-vm-deploy", "variable \"region\" {}");
  EXPECT_FALSE(declared());
}

}  // namespace
}  // namespace dash::deploy
