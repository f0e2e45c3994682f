#include "core/automation/host.hpp"

#include <gtest/gtest.h>

#include "core/automation/host_rules.hpp"
#include "core/crypto/hash.hpp"
#include "tests/support/must.hpp"

namespace dash::automation {
namespace {

const std::string kBlob = std::string("\0\0\0\x0bssh-ed25519\0\0\0\x20", 19) + std::string(32, 'k');
const std::string kKey = "ssh-ed25519 " + crypto::to_base64(kBlob);

Json body_with(const Json& members) {
  Json body{{"name", "web1"}, {"address", "10.0.0.1"}};
  body.update(members);
  return body;
}

Code code_of(const Json& members) {
  auto host = read_host(body_with(members));
  EXPECT_FALSE(host) << members.dump();
  return host ? Code::internal : host.error().code;
}

TEST(Host, HasDefaultsAndNeverShowsItsSecret) {
  auto host =
      must(read_host(body_with({{"secret", "a password"}, {"port", nullptr}, {"workgroup", " Web "}})));
  auto shown = to_json(host);
  EXPECT_EQ(shown["port"], 22);
  EXPECT_EQ(shown["connection"], "ssh");
  EXPECT_EQ(shown["workgroup"], "web");
  EXPECT_EQ(shown["secret_kind"], "password");
  EXPECT_TRUE(shown["host_key"].is_null());
  EXPECT_EQ(dump_json(shown).find("a password"), std::string::npos);
  EXPECT_FALSE(shown.contains("secret"));
  EXPECT_EQ(port_of(must(read_host(body_with({{"connection", "winrm"}})))), 5986);
}

TEST(Host, RefusesMembersThatCannotBe) {
  EXPECT_EQ(read_host({{"address", "x"}}).error().code, Code::validation);
  EXPECT_EQ(read_host({{"name", "x"}}).error().code, Code::validation);
  EXPECT_EQ(read_host(Json::array()).error().code, Code::validation);
  for (const auto& wrong :
       {Json{{"pasword", "x"}}, Json{{"port", "22"}}, Json{{"port", 0}}, Json{{"port", 65536}},
        Json{{"port", 2.5}}, Json{{"variables", "x"}}, Json{{"groups", "x"}}, Json{{"groups", {1}}},
        Json{{"secret", 1}}, Json{{"secret", "short"}}, Json{{"user", 1}},
        Json{{"port", 18446744073709551615u}}})
    EXPECT_EQ(code_of(wrong), Code::validation) << wrong.dump();
  for (const auto& wrong : {Json{{"name", ""}}, Json{{"name", "a b"}}, Json{{"name", "-x"}},
                            Json{{"name", "all"}}, Json{{"name", "a/b"}}, Json{{"name", "ünï"}},
                            Json{{"address", "a:22"}}, Json{{"address", "-oProxyCommand=x"}},
                            Json{{"address", "a b"}}, Json{{"address", "user@x"}}, Json{{"user", "-x"}},
                            Json{{"user", "a\nb"}}, Json{{"connection", "docker"}}, Json{{"groups", {"a b"}}},
                            Json{{"groups", {"all"}}}, Json{{"connection", "local"}, {"workgroup", "web"}}})
    EXPECT_EQ(code_of(wrong), Code::invalid) << wrong.dump();
}

TEST(Host, TakesAnAddressOfEitherFamily) {
  EXPECT_EQ(must(read_host(body_with({{"address", "[2001:db8::1]"}}))).written_address, "2001:db8::1");
  EXPECT_EQ(must(read_host({{"name", "here"}, {"connection", "local"}})).written_address, "localhost");
}

TEST(HostSecret, IsAKeyOrAPasswordAndNoReference) {
  for (auto scheme : {"aws_sm", "azure_kv", "gcp_sm", "bt_safe", "wlc"}) {
    auto refused = read_host(body_with({{"secret", fmt::format(" {}://vault/name", scheme)}}));
    ASSERT_FALSE(refused) << scheme;
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_NE(refused.error().message.find("not resolved"), std::string::npos);
  }
  EXPECT_EQ(code_of({{"secret", "••••••••"}}), Code::invalid);
  EXPECT_EQ(code_of({{"secret", "pass\nword"}}), Code::invalid);
  EXPECT_EQ(code_of({{"secret", "-----BEGIN CERTIFICATE-----\nx\n"}}), Code::invalid);
  EXPECT_EQ(code_of({{"secret", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nx\n"}}), Code::invalid);
  EXPECT_EQ(code_of({{"secret", "-----BEGIN EC PRIVATE KEY-----\nx"}, {"connection", "winrm"}}),
            Code::invalid);
  auto host = must(read_host(body_with({{"secret", "-----BEGIN EC PRIVATE KEY-----\r\nx"}})));
  EXPECT_EQ(host.secret_kind, SecretKind::private_key);
  EXPECT_EQ(host.secret.expose(), "-----BEGIN EC PRIVATE KEY-----\nx\n");
}

TEST(HostKey, HasOneForm) {
  for (const auto& text : {kKey, kKey + " a comment", "10.0.0.1 " + kKey, "  " + kKey + "\n"})
    EXPECT_EQ(must(read_host(body_with({{"host_key", text}}))).host_key, kKey) << text;
  for (const auto& wrong :
       {std::string("ssh-ed25519"), std::string("ssh-ed25519 AAAA"), "ssh-rsa" + kKey.substr(11),
        "a b " + kKey, kKey + "\n" + kKey, "ssh-ed25519-cert-v01@openssh.com" + kKey.substr(11)})
    EXPECT_EQ(code_of({{"host_key", wrong}}), Code::invalid) << wrong;
  EXPECT_EQ(code_of({{"host_key", kKey}, {"connection", "winrm"}}), Code::invalid);
  EXPECT_TRUE(fingerprint_of(must(read_host(body_with({{"host_key", kKey}})))).starts_with("SHA256:"));
}

TEST(HostVariables, CannotSayWhereToConnect) {
  for (auto name :
       {"ansible_host", "ansible_port", "ansible_connection", "ansible_ssh_common_args", "ANSIBLE_HOST",
        "ansible_ssh_host", "ansible_password", "ansible_winrm_server_cert_validation",
        "ansible_become_password", "ansible_ssh_executable", "ansible_host_key_checking", "a-b", "1a", ""})
    EXPECT_EQ(code_of({{"variables", {{name, "x"}}}}), Code::invalid) << name;
  auto host = must(read_host(body_with({{"variables", {{"ansible_become", true}, {"port", 80}}}})));
  EXPECT_TRUE(uses_become(host.variables));
  for (const auto& off : {Json(false), Json(0), Json("no"), Json("False"), Json(nullptr)})
    EXPECT_FALSE(uses_become({{"ansible_become", off}})) << off.dump();
  for (const auto& on : {Json(true), Json(1), Json("yes"), Json("{{ x }}"), Json::array()})
    EXPECT_TRUE(uses_become({{"ansible_become", on}})) << on.dump();
}

TEST(Host, ChangesOnlyWhatIsSent) {
  auto host = must(read_host(body_with({{"host_key", kKey}, {"user", "ops"}, {"port", 2222}})));
  auto moved = must(change_host(host, {{"address", "10.0.0.2"}, {"port", nullptr}}));
  EXPECT_EQ(moved.host_key, kKey);
  EXPECT_EQ(moved.user, "ops");
  EXPECT_EQ(port_of(moved), 22);
  EXPECT_EQ(must(change_host(host, {{"host_key", nullptr}})).host_key, "");
  EXPECT_EQ(change_host(host, {{"name", "other"}}).error().code, Code::invalid);
  EXPECT_EQ(change_host(host, {{"address", nullptr}}).error().code, Code::validation);
  EXPECT_EQ(change_host(host, {{"connection", "winrm"}}).error().code, Code::invalid);
}

TEST(Host, TravelsWholeInTheParametersOfAJob) {
  auto host = must(
      read_host(body_with({{"host_key", kKey}, {"secret", "a password"}, {"groups", {"db", "db", "x"}}})));
  auto back = must(host_of_parameters(to_parameters(host)));
  EXPECT_EQ(to_parameters(back), to_parameters(host));
  EXPECT_EQ(back.secret.expose(), "a password");
  EXPECT_EQ(back.groups, (std::vector<std::string>{"db", "x"}));
  EXPECT_EQ(host_of_parameters({{"name", "x"}}).error().code, Code::internal);
}

}  // namespace
}  // namespace dash::automation
