#include "core/automation/ansible_command.hpp"

#include <gtest/gtest.h>

#include "core/base/file.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::automation {
namespace {

AnsibleRequest request() {
  AnsibleRequest out;
  Host host;
  host.name = "web1", host.address = "10.0.0.1", host.port = 22, host.host_key = "ssh-ed25519 AAAA";
  host.secret = Secret("-----BEGIN KEY-----\nplanted-key"), host.secret_kind = SecretKind::private_key;
  out.hosts = {host};
  out.extra_vars = {{"color", "blue"}};
  out.secret_vars = {{"token", "planted-token {{ x }}"}};
  out.forks = 7;
  return out;
}

TEST(AnsibleCommand, HasNoSecretInArgumentsOrEnvironment) {
  auto made = ansible_command({"/opt/a/bin/ansible-playbook", "2.19", {}}, "/d/work/j", "/run/s", request(),
                              wrap("script", "a.sh"));
  for (const auto* words : {&made.argv, &made.env})
    for (const auto& word : *words) EXPECT_EQ(word.find("planted"), std::string::npos) << word;
  EXPECT_EQ(made.argv.back(), "/d/work/j/playbook.yml");
  EXPECT_TRUE(made.has_report);
  auto has = [&](const std::string& word) { return std::ranges::count(made.env, word) == 1; };
  EXPECT_TRUE(has("HOME=/d/work/j/home"));
  EXPECT_TRUE(has("DASHCTL_SHOW_OUTPUT=1"));
  EXPECT_EQ(std::ranges::count(made.argv, "--check"), 0);
}

TEST(AnsibleCommand, WritesSecretsIntoTheFolderInMemoryAlone) {
  Scratch scratch;
  auto folder = must(jobs::RunFolder::make(scratch.path(), "job-1"));
  must(write_run_files(folder, request(), wrap("script", "a.sh")));
  auto secrets = must(folder.secrets());
  auto key = must(read_file(secrets + "/key-0", 1000));
  EXPECT_TRUE(key.ends_with("planted-key\n"));
  auto variables = must(parse_json(must(read_file(secrets + "/variables.json", 1000))));
  EXPECT_EQ(variables["color"], "blue");
  EXPECT_EQ(variables["token"], (Json{{"__ansible_unsafe", "planted-token {{ x }}"}}));
  EXPECT_NE(must(read_file(folder.work() + "/plugins/dashctl_events.py", 100'000)).find("DASHCTL_EVENTS_FD"),
            std::string::npos);
  EXPECT_NE(must(read_file(folder.work() + "/playbook.yml", 1000)).find("script"), std::string::npos);
}

TEST(AnsibleCommand, EverySecretIsMasked) {
  EXPECT_EQ(secrets_of(request()),
            (std::vector<std::string>{"-----BEGIN KEY-----\nplanted-key", "planted-token {{ x }}"}));
}

}  // namespace
}  // namespace dash::automation
