#include "core/automation/hosts.hpp"

#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"
#include "tests/support/instance.hpp"
#include "tests/support/scripted_http.hpp"

namespace dash::automation {
namespace {

const std::string kBlob = std::string("\0\0\0\x0bssh-ed25519\0\0\0\x20", 19) + std::string(32, 'k');
const std::string kKey = "ssh-ed25519 " + crypto::to_base64(kBlob);

class HostsOfAnInstance : public testing::Test {
 protected:
  HostsOfAnInstance() {
    one_.add_user("root", true);
    one_.add_user("ada", false, {"web"});
    one_.add_user("bob", false, {"db"});
    ada_ = one_.as("ada"), bob_ = one_.as("bob");
    add("web1", {{"workgroup", "web"}, {"host_key", kKey}, {"secret", "web secret"}});
    add("own", {{"host_key", kKey}});
  }

  void add(const std::string& name, const Json& members) {
    Json body{{"name", name}, {"address", "10.0.0.1"}};
    body.update(members);
    must(hosts_.add(root_, body));
  }
  void set(const std::string& key, const std::string& value) {
    must(one_.config.apply({{key, value}}, {"root", "test"}));
  }
  Result<std::vector<Host>> resolve(const Principal& principal, const Json& entries, bool become = false) {
    return hosts_.resolve(principal, entries, {become});
  }
  Code code(const Principal& principal, const Json& entries, bool become = false) {
    auto resolved = resolve(principal, entries, become);
    EXPECT_FALSE(resolved) << entries.dump();
    return resolved ? Code::internal : resolved.error().code;
  }

  TestInstance one_;
  net::ScriptedHttp http_;
  Hosts hosts_{{*one_.sql, one_.clock, one_.config, one_.settings, one_.audit, http_}};
  Principal root_ = local_operator();
  Principal ada_, bob_;
};

TEST_F(HostsOfAnInstance, AreSeenByTheirWorkgroupAndKeptByAdmins) {
  EXPECT_EQ(must(hosts_.list(root_)).size(), 2u);
  EXPECT_EQ(must(hosts_.list(ada_)).size(), 1u);
  EXPECT_TRUE(must(hosts_.list(bob_)).empty());
  EXPECT_TRUE(must(hosts_.get(ada_, "web1")).secret.empty());
  for (auto name : {"web1", "own", "nobody"}) {
    EXPECT_EQ(hosts_.get(bob_, name).error().message, fmt::format("Host '{}' not found.", name));
    EXPECT_EQ(hosts_.change(bob_, name, {{"address", "x"}}).error().code, Code::not_found);
    EXPECT_EQ(hosts_.remove(bob_, name).error().code, Code::not_found);
    EXPECT_EQ(hosts_.test(bob_, name, true).error().code, Code::not_found);
  }
  EXPECT_EQ(hosts_.add(ada_, {{"name", "x"}, {"address", "y"}}).error().code, Code::forbidden);
  EXPECT_EQ(hosts_.change(ada_, "web1", {{"address", "y"}}).error().code, Code::forbidden);
  EXPECT_EQ(hosts_.remove(ada_, "web1").error().code, Code::forbidden);
  EXPECT_EQ(hosts_.test(ada_, "web1", true).error().code, Code::forbidden);
}

TEST_F(HostsOfAnInstance, AreAuditedWithoutTheirSecrets) {
  must(hosts_.change(root_, "web1", {{"secret", "another secret"}, {"port", 2222}}));
  must(hosts_.remove(root_, "own"));
  EXPECT_EQ(one_.audited("host_add"), 2);
  EXPECT_EQ(one_.audited("host_change"), 1);
  EXPECT_EQ(one_.audited("host_remove"), 1);
  must(one_.sql->read([&](db::Transaction& tx) -> Result<void> {
    auto rows = TRY(tx.query("SELECT details FROM audit_log WHERE action = 'host_change'"));
    EXPECT_NE(rows[0].text(0).find("secret"), std::string::npos);
    EXPECT_EQ(rows[0].text(0).find("another"), std::string::npos);
    return {};
  }));
}

TEST_F(HostsOfAnInstance, HaveNamesOfTheirOwnAndKnownWorkgroups) {
  EXPECT_EQ(hosts_.add(root_, {{"name", "own"}, {"address", "x"}}).error().code, Code::conflict);
  EXPECT_EQ(hosts_.add(root_, {{"name", "x"}, {"address", "y"}, {"workgroup", "none"}}).error().code,
            Code::invalid);
  EXPECT_EQ(hosts_.change(root_, "own", {{"workgroup", "none"}}).error().code, Code::invalid);
  EXPECT_EQ(must(hosts_.change(root_, "own", {{"workgroup", "db"}})).workgroup, "db");
  EXPECT_TRUE(hosts_.get(bob_, "own"));
}

TEST_F(HostsOfAnInstance, KeepASecretThatOnlyTheirKeyOpens) {
  EXPECT_EQ(must(resolve(ada_, {"web1"}))[0].secret.expose(), "web secret");
  must(hosts_.change(root_, "web1", {{"user", "ops"}}));
  EXPECT_EQ(must(resolve(ada_, {"web1"}))[0].secret.expose(), "web secret");
  must(one_.sql->write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(
        "UPDATE hosts SET secret = (SELECT secret FROM hosts WHERE name = 'web1') WHERE name = 'own'"));
    return {};
  }));
  EXPECT_EQ(code(root_, {"own"}), Code::conflict);  // another host's
  must(hosts_.change(root_, "web1", {{"secret", nullptr}}));
  EXPECT_TRUE(must(resolve(ada_, {"web1"}))[0].secret.empty());
}

TEST_F(HostsOfAnInstance, ResolveByNameForThoseWhoMayUseThem) {
  auto found = must(resolve(ada_, {"web1"}));
  EXPECT_EQ(found[0].address, "10.0.0.1");
  EXPECT_EQ(found[0].port, 22);
  EXPECT_EQ(code(bob_, {"web1"}), Code::not_found);
  EXPECT_EQ(code(ada_, {"own"}), Code::not_found);
  EXPECT_EQ(code(root_, {"nobody"}), Code::not_found);
  EXPECT_EQ(code(ada_, {"10.0.0.1"}), Code::not_found);
  EXPECT_EQ(code(ada_, {{{"address", "10.0.0.1"}}}), Code::forbidden);
  EXPECT_EQ(code(root_, {true}), Code::validation);
  EXPECT_EQ(code(root_, Json::array()), Code::invalid);
  EXPECT_EQ(code(root_, {"web1", "web1"}), Code::invalid);
  set("ansible_default_user", "admin");
  EXPECT_EQ(must(resolve(ada_, {"web1"}))[0].user, "admin");
}

TEST_F(HostsOfAnInstance, AdHocNeedAKey) {
  for (const auto& entry : {Json("10.0.0.9"), Json{{"address", "10.0.0.9"}}}) {
    auto refused = resolve(root_, Json::array({entry}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_NE(refused.error().message.find("dashctl host test"), std::string::npos);
  }
  add("keyless", Json::object());
  EXPECT_EQ(code(root_, {"keyless"}), Code::invalid);
  auto found = must(resolve(root_, {{{"address", "10.0.0.9"}, {"host_key", kKey}}, "web1"}));
  EXPECT_EQ(found[0].name, "10.0.0.9");
  EXPECT_FALSE(found[0].is_kept);
}

TEST_F(HostsOfAnInstance, LocalAreForAdminsAndWithoutBecome) {
  Json here{{"connection", "local"}};
  EXPECT_EQ(code(ada_, Json::array({here})), Code::forbidden);
  EXPECT_EQ(must(resolve(root_, Json::array({here})))[0].name, "localhost");
  EXPECT_EQ(code(root_, Json::array({here}), /*become=*/true), Code::invalid);
  here["variables"] = {{"ansible_become", "yes"}};
  EXPECT_EQ(code(root_, Json::array({here})), Code::invalid);
}

TEST_F(HostsOfAnInstance, AreLimitedBySettings) {
  set("automation_targets", "192.168.0.0/16");
  EXPECT_EQ(code(ada_, {"web1"}), Code::invalid);
  EXPECT_TRUE(resolve(root_, {"web1"}));
  EXPECT_EQ(code(root_, {{{"address", "10.0.0.9"}, {"host_key", kKey}}}), Code::invalid);
  set("automation_targets", "10.0.0.0/24,web");
  EXPECT_TRUE(resolve(ada_, {"web1"}));
  set("automation_max_targets", "1");
  EXPECT_EQ(code(root_, {"web1", "own"}), Code::invalid);
  set("automation_targets", "nonsense/8");
  EXPECT_EQ(code(ada_, {"web1"}), Code::conflict);
}

TEST_F(HostsOfAnInstance, OfWindowsAreTestedByIdentify) {
  add("win", {{"connection", "winrm"}, {"user", "ops"}, {"secret", "win secret"}, {"workgroup", "web"}});
  http_.answer(200, "<s:Envelope><wsmid:IdentifyResponse/></s:Envelope>");
  auto tested = must(hosts_.test(ada_, "win", false));
  EXPECT_TRUE(tested.ok && tested.is_logged_in);
  EXPECT_EQ(http_.requests[0].url, "https://10.0.0.1:5986/wsman");
  ASSERT_TRUE(http_.requests[0].login);
  EXPECT_EQ(http_.requests[0].login->user, "ops");
  EXPECT_EQ(http_.requests[0].login->password.expose(), "win secret");
  http_.answer(401, "", {{"WWW-Authenticate", "Negotiate"}});
  http_.answer(200, "<html/>");
  http_.fail_with(Code::tls);
  for (auto code : {Code::unauthenticated, Code::upstream, Code::tls}) {
    tested = must(hosts_.test(root_, "win", false));
    EXPECT_FALSE(tested.ok);
    EXPECT_EQ(tested.error->code, code);
    EXPECT_EQ(tested.error->message.find("win secret"), std::string::npos);
  }
  EXPECT_EQ(one_.audited("host_test"), 4);
}

TEST(HostEntries, AreOneListOfThree) {
  EXPECT_EQ(must(host_entries({{"target", "a"}})), Json({"a"}));
  EXPECT_EQ(must(host_entries({{"target", {{"address", "a"}}}})).size(), 1u);
  EXPECT_EQ(must(host_entries({{"hosts", {"a", "b"}}, {"target", nullptr}})).size(), 2u);
  EXPECT_EQ(must(host_entries({{"inventory_ids", {1}}})), Json({1}));
  EXPECT_EQ(must(host_entries(Json::object())), Json::array());
  for (const auto& wrong :
       {Json{{"target", "a"}, {"hosts", {"b"}}}, Json{{"hosts", "a"}}, Json{{"target", {"a"}}}})
    EXPECT_EQ(host_entries(wrong).error().code, Code::validation) << wrong.dump();
}

}  // namespace
}  // namespace dash::automation
