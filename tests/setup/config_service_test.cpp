#include "core/setup/config_service.hpp"

#include <gtest/gtest.h>
#include "core/config/masking.hpp"

#include "core/config/registry.hpp"
#include "core/config/vault_reference.hpp"
#include "core/crypto/hash.hpp"
#include "tests/setup/config_fixture.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/instance.hpp"

namespace dash::setup {
namespace {

TEST_F(SetupSurface, AnswersInTheProvidersSpellingWhenTheSettingSaysSo) {
  import(
      R"({"cloud1_access_key_id":"AKIA1","storage_obj_cloud1_bucket":"b","storage_active_backend":"obj_cloud1"})");
  must(i_.config_service.change(i_.as("root"), {{"cloud_names", "provider"}}, "cli"));
  auto shown = must(i_.config_service.read(i_.as("root"), {}));
  EXPECT_EQ(shown["aws_access_key_id"], "AKIA1");
  EXPECT_EQ(shown["storage_active_backend"], "s3");
  EXPECT_FALSE(shown.contains("cloud1_access_key_id"));
}

TEST_F(SetupSurface, MasksSecretsInsideOfARegionSetAndKeepsThemWhenTheMaskComesBack) {
  auto set = R"({"cloud1_region.r.admin_password":"hunter2","cloud1_region.r.vpc_id":"vpc-1",
                 "cloud1_region.r.proxy":"http://u:p@proxy:3128"})";
  import(set);
  auto stored = values()["cloud1_region_configs"];
  auto shown = must(i_.config_service.read(i_.as("root"), {}))["cloud1_region_configs"];
  EXPECT_EQ(shown, R"({"r": {"admin_password": "••••••••", "proxy": "••••••••", "vpc_id": "vpc-1"}})");
  Json body{{"cloud1_region_configs", shown}};
  for (std::optional<bool> replace : {std::optional<bool>(), std::optional(true), std::optional(false)}) {
    import(dump_json(body), {.replace_regions = replace});
    EXPECT_EQ(values()["cloud1_region_configs"], stored);
  }
  must(i_.config_service.change(i_.as("root"), {{"cloud1_region_configs", shown}}, "api"));
  EXPECT_EQ(values()["cloud1_region_configs"], stored);
  must(i_.config_service.change(i_.as("root"), {{"cloud1_region.r.admin_password", "••••••••"}}, "api"));
  EXPECT_EQ(values()["cloud1_region_configs"], stored);
}

TEST_F(SetupSurface, WritesNoSecretIntoTheAuditLog) {
  import(
      R"({"some_dsn":"x://u:topsecret@h","app_url":"https://u:topsecret@h/p","cloud1_region.r.api_pwd":"topsecret"})");
  must(i_.config_service.change(i_.as("root"), {{"app_url", "https://v:topsecret@h/q"}}, "api"));
  auto details = must(db::read<std::string>(*i_.sql, [](db::Transaction& tx) -> Result<std::string> {
    std::string all;
    for (const auto& row : TRY(tx.query("SELECT details FROM audit_log", {}))) all += row.text(0);
    return all;
  }));
  EXPECT_EQ(details.find("topsecret"), std::string::npos) << details;
  EXPECT_NE(details.find("https://***@h/q"), std::string::npos) << details;
}

TEST_F(SetupSurface, DoesNotShowInWhichSpellingItAnswers) {
  must(i_.config_service.change(i_.as("root"), {{"cloud_names", "provider"}, {"cloud1_access_key_id", "a"}},
                                "cli"));
  auto shown = must(i_.config_service.read(i_.as("root"), {}));
  EXPECT_EQ(shown, (config::Values{{"aws_access_key_id", "a"}}));
}

TEST_F(SetupSurface, MasksEverySecretButNotReferencesNorEmptyOnes) {
  import(R"({"cloud1_secret_access_key":"s","proxmox_password":"p","made_up_token":"t","wlc_pat":"",
             "cloud2_client_secret":"azure_kv://vault/name","ec2_ssh_key_secret":"name-of-a-secret"})");
  auto shown = must(i_.config_service.read(i_.as("root"), {}));
  EXPECT_EQ(shown["cloud1_secret_access_key"], config::kMask);
  EXPECT_EQ(shown["proxmox_password"], config::kMask);
  EXPECT_EQ(shown["made_up_token"], config::kMask);
  EXPECT_EQ(shown["wlc_pat"], "");
  EXPECT_EQ(shown["cloud2_client_secret"], "azure_kv://vault/name");
  EXPECT_EQ(shown["ec2_ssh_key_secret"], "name-of-a-secret");
}

TEST_F(SetupSurface, TellsKeyNamesToAdminsOnly) {
  i_.add_user("bob");
  import(R"({"a":"1"})");
  EXPECT_TRUE(must(i_.config_service.status(std::nullopt)).complete);
  EXPECT_TRUE(must(i_.config_service.status(std::nullopt)).configured_keys.empty());
  EXPECT_TRUE(must(i_.config_service.status(i_.as("bob"))).configured_keys.empty());
  EXPECT_EQ(must(i_.config_service.status(i_.as("root"))).configured_keys, (std::vector<std::string>{"a"}));
}

TEST_F(SetupSurface, LetsNobodyButAdminsReadWriteOrCompare) {
  i_.add_user("bob");
  auto bob = i_.as("bob");
  EXPECT_EQ(i_.config_service.read(bob, {}).error().code, Code::forbidden);
  EXPECT_EQ(i_.config_service.read(std::nullopt, {}).error().message, "Authentication required");
  EXPECT_EQ(i_.config_service.import(bob, {Json{{"a", "1"}}, {}, {}, "", {}, {}}, "").error().code,
            Code::forbidden);
  EXPECT_EQ(i_.config_service.import(std::nullopt, {Json{{"a", "1"}}, {}, {}, "", {}, {}}, "").error().code,
            Code::unauthenticated);
  EXPECT_EQ(i_.config_service.compare(bob, std::string(16, 'n'), {}).error().code, Code::forbidden);
  EXPECT_EQ(i_.config_service.change(bob, {{"a", "1"}}, "api").error().code, Code::forbidden);
  EXPECT_EQ(i_.config_service.history(bob, "", 0, 10).error().code, Code::forbidden);
  EXPECT_EQ(i_.config_service.rollback(bob, "x").error().code, Code::forbidden);
}

TEST_F(SetupSurface, ComparesBlindly) {
  import(R"({"cloud1_secret_access_key":"right","cloud1_region.us-east-1.vpc_id":"v"})");
  auto nonce = crypto::random_bytes(16);
  auto mac = [&](std::string key, std::string value) {
    return crypto::to_hex(crypto::hmac_sha256(nonce, key + '\0' + value));
  };
  auto results = must(i_.config_service.compare(
      i_.as("root"), nonce,
      {{"aws_secret_access_key", mac("aws_secret_access_key", "right")},
       {"cloud1_secret_access_key", mac("cloud1_secret_access_key", "wrong")},
       {"cloud1_region.us-east-1.vpc_id", mac("cloud1_region.us-east-1.vpc_id", "v")},
       {"absent", mac("absent", "")}}));
  EXPECT_EQ(results["aws_secret_access_key"], ValueMatch::same);
  EXPECT_EQ(results["cloud1_secret_access_key"], ValueMatch::differs);
  EXPECT_EQ(results["cloud1_region.us-east-1.vpc_id"], ValueMatch::same);
  EXPECT_EQ(results["absent"], ValueMatch::absent);
  EXPECT_EQ(i_.config_service.compare(i_.as("root"), "short", {}).error().code, Code::invalid);
  EXPECT_EQ(i_.audited("config.compare"), 1);
}

TEST_F(SetupSurface, ThrottlesBlindComparisons) {
  for (int n = 0; n < 60; ++n) must(i_.config_service.compare(i_.as("root"), std::string(16, 'n'), {}));
  EXPECT_EQ(i_.config_service.compare(i_.as("root"), std::string(16, 'n'), {}).error().code, Code::throttled);
}

TEST_F(SetupSurface, RollsAnImportBackWhole) {
  import(R"({"cloud1_secret_access_key":"old","cloud1_region.r.vpc_id":"old"})");
  auto before = values();
  auto change =
      import(R"({"cloud1_secret_access_key":"new","added":"1","cloud1_region.r.vpc_id":"new"})").change_id;
  auto restored = must(i_.config_service.rollback(i_.as("root"), change));
  EXPECT_EQ(restored.restored, (std::vector<std::string>{"added", "cloud1_secret_access_key"}));
  EXPECT_EQ(restored.regions_restored, std::vector<std::string>{"r"});
  EXPECT_EQ(values(), before);
  EXPECT_EQ(i_.audited("config.rollback"), 1);
}

TEST_F(SetupSurface, CountsWhatIsRestoredAsWhatWasWritten) {
  import(R"({"same":"1","cloud1_region.kept.vpc_id":"v"})");
  auto done =
      import(R"({"a":"1","b":"2","same":"1","aws_region.r1.vpc_id":"v","azure_region.r2.gallery_name":"g"})");
  auto back = must(i_.config_service.rollback(i_.as("root"), done.change_id));
  EXPECT_EQ(back.restored, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(back.regions_restored, (std::vector<std::string>{"r1", "r2"}));
  EXPECT_EQ(back.regions_restored, done.regions_merged);
  EXPECT_EQ(i_.config_service.rollback(i_.as("root"), done.change_id).error().code, Code::drift);
}

TEST_F(SetupSurface, ChangesAndRemovesSingleSettingsAndRegionFields) {
  must(i_.config_service.change(
      i_.as("root"), {{"aws_region.r.vpc_id", "v"}, {"aws_region.r.vpc_cidr", "c"}, {"a", "1"}}, "cli"));
  must(i_.config_service.change(i_.as("root"),
                                {{"cloud1_region.r.vpc_cidr", std::nullopt}, {"a", std::nullopt}}, "cli"));
  EXPECT_EQ(values(), (config::Values{{"cloud1_region_configs", R"({"r": {"vpc_id": "v"}})"}}));
  EXPECT_EQ(must(i_.config_service.history(i_.as("root"), "a", 0, 10))[0].origin, "cli");
}

TEST(FirstRun, TheThrottleStopsGuessesAndNeverTheRightCode) {
  TestInstance fresh;
  auto right = must(fresh.setup_code.ensure());
  auto code_of = [&](std::string_view guess) {
    auto checked = fresh.config_service.check_setup_code(Secret(std::string(guess)), "192.0.2.1");
    return checked ? std::optional<Code>() : checked.error().code;
  };
  for (int i = 0; i < kSetupCodeLimit.max_attempts; ++i) EXPECT_EQ(code_of("wrong"), Code::forbidden);
  EXPECT_EQ(code_of("wrong"), Code::throttled);
  EXPECT_EQ(code_of(right.expose()), std::nullopt);
  EXPECT_EQ(code_of("wrong"), Code::throttled);
}

TEST(FirstRun, IsClaimedWithTheSetupCodeAndOnlyOnce) {
  TestInstance i;
  auto code = must(i.setup_code.ensure());
  Json config{{"a", "1"}};
  auto import = [&](std::string user, Secret given) {
    return i.config_service.import(
        std::nullopt, {config, {}, {}, std::move(user), Secret("correct horse"), std::move(given)},
        "10.0.0.1");
  };
  EXPECT_EQ(import("", code).error().message,
            "admin_username and admin_password are required for first-run import.");
  EXPECT_EQ(import("boss", Secret("guess")).error().code, Code::forbidden);
  EXPECT_FALSE(must(i.directory.is_set_up()));
  must(import("boss", code));
  EXPECT_TRUE(must(i.directory.is_set_up()));
  EXPECT_EQ(must(log_in(*i.sql, i.passwords, i.sessions, "boss", Secret("correct horse"), "")).username,
            "boss");
  EXPECT_EQ(i.audited("user.create"), 1);
  EXPECT_EQ(import("eve", code).error().code, Code::unauthenticated);
  EXPECT_FALSE(std::filesystem::exists(i.setup_code.path()));
}

TEST(FirstRun, AClaimMayBeOfAnAccountAloneAndAnImportMayNotBeEmpty) {
  TestInstance i;
  auto code = must(i.setup_code.ensure());
  must(i.config_service.import(
      std::nullopt, {Json::object(), {}, {}, "boss", Secret("correct horse"), Secret(code.expose())},
      "10.0.0.1"));
  EXPECT_TRUE(must(i.directory.is_set_up()));
  EXPECT_EQ(i.audited("user.create"), 1);
  auto again = i.config_service.import(i.as("boss"), {Json::object(), {}, {}, "", {}, {}}, "10.0.0.1");
  EXPECT_EQ(again.error().message, "config must be a non-empty object.");
}

TEST(FirstRun, IsNotReopenedByADatabaseUnderAnotherKey) {
  TestInstance i;
  i.add_user("root", true);
  must(i.config.apply({{"a", "1"}}, {"root", "test"}));
  config::EncryptedStore other(*i.sql, i.clock, config::derive_store_key(Secret("another key"), {}));
  config::Settings settings(other);
  setup::ConfigService setup(
      {*i.sql, i.clock, other, settings, i.audit, i.directory, i.setup_code, i.webhooks, i.state, i.roots});
  CapturedLog quiet;
  EXPECT_TRUE(must(setup.status(std::nullopt)).complete);
  EXPECT_EQ(setup.read(std::nullopt, {}).error().code, Code::unauthenticated);
  EXPECT_EQ(must(setup.read(i.as("root"), {})), (config::Values{{"a", ""}}));
  auto claim =
      setup.import(std::nullopt, {Json{{"a", "2"}}, {}, {}, "eve", Secret("correct horse"), Secret("x")}, "");
  EXPECT_EQ(claim.error().code, Code::unauthenticated);
}

}  // namespace
}  // namespace dash::setup
