#include "core/automation/wrap.hpp"

#include <gtest/gtest.h>

namespace dash::automation {
namespace {

TEST(Wrap, APlaybookRunsAsItIs) {
  auto made = wrap("playbook", "site.yml");
  EXPECT_EQ(made.playbook, "");
  EXPECT_EQ(made.asset_file, "playbook.yml");
  EXPECT_FALSE(made.becomes);
  EXPECT_FALSE(made.shows_output);
}

TEST(Wrap, AScriptIsAScriptTaskWhoseOutputIsShown) {
  auto made = wrap("script", "deploy.sh");
  EXPECT_EQ(made.playbook, R"(- name: Run deploy.sh
  hosts: all
  gather_facts: false
  tasks:
    - name: Run deploy.sh
      ansible.builtin.script:
        cmd: asset.sh
)");
  EXPECT_TRUE(made.shows_output);
  EXPECT_NE(wrap("powershell", "a.ps1").playbook.find("cmd: asset.ps1"), std::string::npos);
}

TEST(Wrap, APackageIsCopiedAndInstalledWithBecome) {
  for (auto [type, module] :
       {std::pair("deb", "ansible.builtin.apt"), std::pair("rpm", "ansible.builtin.dnf")}) {
    auto made = wrap(type, "web.pkg");
    EXPECT_TRUE(made.becomes);
    EXPECT_LT(made.playbook.find("ansible.builtin.copy"), made.playbook.find("become: true"));
    EXPECT_LT(made.playbook.find("become: true"), made.playbook.find(module));
    EXPECT_NE(made.playbook.find(fmt::format("dest: \"{{{{ dashctl_folder.path }}}}/asset.{}\"", type)),
              std::string::npos)
        << made.playbook;
  }
}

TEST(Wrap, ANameIsNeverATemplateOrYaml) {
  auto made = wrap("script", "{{ lookup('pipe','id') }}: [x]#\"\n.sh");
  for (auto text : {"{{", "lookup(", "[", "\"", "#"})
    EXPECT_EQ(made.playbook.find(text), std::string::npos) << text;
  EXPECT_EQ(plain_name("ü a.sh"), "___a.sh");
  EXPECT_EQ(plain_name(std::string(300, 'a')).size(), 100u);
}

TEST(WrapCompose, CopiesTheFileAndStartsTheProject) {
  auto made = wrap_compose("shop.yml", "shop-1");
  EXPECT_NE(made.playbook.find(
                R"(argv: [docker, compose, --project-name, "shop-1", --file, compose.yml, up, --detach])"),
            std::string::npos)
      << made.playbook;
  EXPECT_EQ(made.asset_file, "asset.yml");
  for (auto name : {"shop", "0_a-b"}) EXPECT_TRUE(check_project(name)) << name;
  for (auto name : {"", "-a", "_a", "A", "a b", "a/b", "../a", "{{x}}"})
    EXPECT_EQ(check_project(name).error().code, Code::invalid) << name;
  EXPECT_FALSE(check_project(std::string(64, 'a')));
}

}  // namespace
}  // namespace dash::automation
