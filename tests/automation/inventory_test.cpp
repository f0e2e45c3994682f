#include "core/automation/inventory.hpp"

#include <gtest/gtest.h>

namespace dash::automation {
namespace {

Host host(std::string name, std::string address, int port = 22) {
  Host out;
  out.name = std::move(name), out.address = std::move(address), out.port = port;
  out.host_key = "ssh-ed25519 AAAA";
  return out;
}

TEST(Inventory, WritesEveryTextOfOursAsNoTemplate) {
  auto one = host("web1", "{{ lookup('pipe','id') }}");
  one.user = "{{ evil }}";
  one.secret = Secret("{{ password }}"), one.secret_kind = SecretKind::password;
  one.groups = {"web"};
  one.variables = {{"color", "{{ theirs }}"}};
  std::vector<Host> hosts{one};
  auto made = inventory_of(hosts, "/run/secrets");
  auto variables = made["all"]["hosts"]["web1"];
  for (auto [name, text] :
       {std::pair("ansible_host", "{{ lookup('pipe','id') }}"), std::pair("ansible_user", "{{ evil }}"),
        std::pair("ansible_password", "{{ password }}")})
    EXPECT_EQ(variables[name], (Json{{"__ansible_unsafe", text}})) << name;
  EXPECT_EQ(variables["color"], "{{ theirs }}");
  EXPECT_EQ(variables["ansible_connection"], "ssh");
  EXPECT_TRUE(made["all"]["children"]["web"]["hosts"].contains("web1"));
}

TEST(Inventory, AKeyIsAFileAndNeverInIt) {
  auto one = host("web1", "10.0.0.1");
  one.secret = Secret("-----BEGIN KEY-----"), one.secret_kind = SecretKind::private_key;
  std::vector<Host> hosts{host("web0", "10.0.0.2"), one};
  auto made = inventory_of(hosts, "/run/secrets");
  EXPECT_EQ(made["all"]["hosts"]["web1"]["ansible_ssh_private_key_file"], "/run/secrets/key-1");
  EXPECT_EQ(dump_json(made).find("BEGIN"), std::string::npos);
}

TEST(Inventory, WinrmVerifiesCertificates) {
  auto one = host("win1", "win.example", 5986);
  one.connection = Connection::winrm;
  std::vector<Host> hosts{one};
  auto variables = inventory_of(hosts, "/s")["all"]["hosts"]["win1"];
  EXPECT_EQ(variables["ansible_winrm_server_cert_validation"], "validate");
  EXPECT_EQ(variables["ansible_winrm_scheme"], "https");
  EXPECT_EQ(variables["ansible_winrm_transport"], Json({"ntlm", "ssl"}));
  EXPECT_EQ(variables["ansible_winrm_ca_trust_path"], "/s/certificates-0.pem");
  EXPECT_EQ(known_hosts_of(hosts), "");
}

TEST(KnownHosts, AKeyIsThatOfOneHostAlone) {
  std::vector<Host> hosts{host("a", "10.0.0.1"), host("b", "10.0.0.1")};
  hosts[1].host_key = "ssh-ed25519 BBBB";
  EXPECT_EQ(known_hosts_of(hosts), "dashctl-host-0 ssh-ed25519 AAAA\ndashctl-host-1 ssh-ed25519 BBBB\n");
  EXPECT_EQ(inventory_of(hosts, "/s")["all"]["hosts"]["b"]["ansible_ssh_common_args"],
            "-o HostKeyAlias=dashctl-host-1");
}

TEST(SshConfig, TrustsNothingElse) {
  auto text = ssh_config_of("/run/a b");
  for (auto line : {"StrictHostKeyChecking yes", "UserKnownHostsFile \"/run/a b/known_hosts\"",
                    "GlobalKnownHostsFile /dev/null", "IdentitiesOnly yes", "IdentityAgent none"})
    EXPECT_NE(text.find(line), std::string::npos) << line;
}

}  // namespace
}  // namespace dash::automation
