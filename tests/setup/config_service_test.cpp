#include <gtest/gtest.h>

#include "core/config/registry.hpp"
#include "core/config/vault_reference.hpp"
#include "core/crypto/hash.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/instance.hpp"

namespace dash::setup {
namespace {

class SetupSurface : public testing::Test {
 protected:
  void SetUp() override { i_.add_user("root", true); }
  ImportResult import(std::string_view config, ImportRules rules = {}) {
    return must(i_.config_service.import(i_.as("root"), {must(parse_json(config)), rules, {}, "", {}, {}},
                                         "10.0.0.1"));
  }
  config::Values values() { return must(i_.config.all()); }
  TestInstance i_;
};

TEST_F(SetupSurface, StoresValuesAsTextAndSkipsNullAndMaskedOnes) {
  auto report =
      import(R"({"demo_text":"hello","demo_true":true,"demo_false":false,"demo_int":42,"demo_float":1.5,
      "demo_null":null,"demo_list":["a",1],"demo_empty":"","wlc_pat":"••••••••","one_bullet":"•x"})");
  EXPECT_EQ(report.keys_written, 8u);
  EXPECT_EQ(values(), (config::Values{{"demo_text", "hello"},
                                      {"demo_true", "1"},
                                      {"demo_false", "0"},
                                      {"demo_int", "42"},
                                      {"demo_float", "1.5"},
                                      {"demo_list", R"(["a",1])"},
                                      {"demo_empty", ""},
                                      {"one_bullet", "•x"}}));
}

TEST_F(SetupSurface, TakesEitherSpellingAndKeepsTheCanonicalOne) {
  import(R"({"aws_access_key_id":"AKIA1","storage_s3_bucket":"b","storage_active_backend":"s3"})");
  EXPECT_EQ(values(), (config::Values{{"cloud1_access_key_id", "AKIA1"},
                                      {"storage_obj_cloud1_bucket", "b"},
                                      {"storage_active_backend", "obj_cloud1"}}));
}

TEST_F(SetupSurface, AnswersInTheProvidersSpellingWhenTheSettingSaysSo) {
  import(
      R"({"cloud1_access_key_id":"AKIA1","storage_obj_cloud1_bucket":"b","storage_active_backend":"obj_cloud1"})");
  must(i_.config_service.change(i_.as("root"), {{"cloud_names", "provider"}}, "cli"));
  auto shown = must(i_.config_service.read(i_.as("root"), {}));
  EXPECT_EQ(shown["aws_access_key_id"], "AKIA1");
  EXPECT_EQ(shown["storage_active_backend"], "s3");
  EXPECT_FALSE(shown.contains("cloud1_access_key_id"));
}

TEST_F(SetupSurface, RefusesHeldBackKeysAndWritesTheRest) {
  auto report =
      import(R"({"public_base_url":"https://x","rancher_api_token":"t","log_dir":"/var","fine":"1"})");
  EXPECT_EQ(report.refused, (std::map<std::string, std::string>{{"public_base_url", "instance_local"},
                                                                {"rancher_api_token", "runtime_handle"},
                                                                {"log_dir", "local_path"}}));
  EXPECT_EQ(values(), (config::Values{{"fine", "1"}}));
}

TEST_F(SetupSurface, AnswersBadRequestWhenEveryKeyIsRefused) {
  auto report = import(R"({"setup_complete":"0","jwt_secret_key":"x"})");
  EXPECT_TRUE(report.is_all_refused);
  auto detail = to_json(report)["detail"].get<std::string>();
  EXPECT_NE(detail.find("setup_complete (instance_local)"), std::string::npos) << detail;
  EXPECT_TRUE(values().empty());
}

TEST_F(SetupSurface, HoldsOnPremisesTargetsOnlyWhenTheClientAsksForIt) {
  EXPECT_TRUE(import(R"({"vsphere_host":"h","other":"1"})").refused.empty());
  auto held = import(R"({"proxmox_host":"h","other":"2"})", {.include_on_prem = false});
  EXPECT_EQ(held.refused, (std::map<std::string, std::string>{{"proxmox_host", "on_prem"}}));
}

TEST_F(SetupSurface, MergesRegionKeysFieldByFieldAndNeverDeletes) {
  import(R"({"cloud1_region.us-east-1.vpc_id":"vpc-1","cloud1_region.us-east-1.vpc_cidr":"10.0.0.0/16"})");
  auto report = import(
      R"({"aws_region.US-East-1.vpc_id":"vpc-2","aws_region.eu-west-1.vpc_id":"vpc-3","aws_region.us-east-1.vpc_cidr":"  "})");
  EXPECT_EQ(report.keys_written, 0u);
  EXPECT_EQ(report.regions_merged, (std::vector<std::string>{"US-East-1", "eu-west-1", "us-east-1"}));
  EXPECT_EQ(
      values()["cloud1_region_configs"],
      R"({"eu-west-1": {"vpc_id": "vpc-3"}, "us-east-1": {"vpc_cidr": "10.0.0.0/16", "vpc_id": "vpc-2"}})");
}

TEST_F(SetupSurface, KeepsDotsInRegionNamesAndFieldsOfTheFourthCloud) {
  import(R"({"cloud1_region.us.east.vpc_id":"v","cloud4_region.eu-frankfurt-1.vcn":"o"})");
  EXPECT_EQ(values()["cloud1_region_configs"], R"({"us.east": {"vpc_id": "v"}})");
  EXPECT_EQ(values()["cloud4_region_configs"], R"({"eu-frankfurt-1": {"vcn": "o"}})");
}

TEST_F(SetupSurface, ReplacesASetByItsBlobUnlessAMergeIsAsked) {
  import(R"({"cloud2_region.westus2.gallery_name":"g"})");
  auto blob = R"({"azure_region_configs":"{\"West US 2\":{\"resource_group\":\"rg\"}}"})";
  import(blob, {.replace_regions = false});
  EXPECT_EQ(values()["cloud2_region_configs"],
            R"({"westus2": {"gallery_name": "g", "resource_group": "rg"}})");
  import(blob);
  EXPECT_EQ(values()["cloud2_region_configs"], R"({"westus2": {"resource_group": "rg"}})");
}

TEST_F(SetupSurface, RefusesAnEmptySetUnlessReplacementIsAsked) {
  import(R"({"cloud2_region.westus2.gallery_name":"g"})");
  auto report = import(R"({"cloud2_region_configs":"{}","cloud1_region_configs":" ","fine":"1"})");
  EXPECT_EQ(report.refused,
            (std::map<std::string, std::string>{{"cloud1_region_configs", "empty_region_set"},
                                                {"cloud2_region_configs", "empty_region_set"}}));
  EXPECT_EQ(values()["cloud2_region_configs"], R"({"westus2": {"gallery_name": "g"}})");
  EXPECT_TRUE(import(R"({"cloud2_region_configs":"{}"})", {.replace_regions = true}).refused.empty());
  EXPECT_EQ(values()["cloud2_region_configs"], "{}");
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

TEST_F(SetupSurface, DropsAMaskThatStandsForNothing) {
  import(R"({"cloud1_region_configs":"{\"r\":{\"admin_password\":\"••••••••\",\"vpc_id\":\"v\"}}"})");
  EXPECT_EQ(values()["cloud1_region_configs"], R"({"r": {"vpc_id": "v"}})");
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

TEST_F(SetupSurface, NamesRegionKeysThatItCannotPlace) {
  auto report = import(R"({"cloud2_region.westeurope":"x","cloud1_region_configs":"[1","fine":"1"})");
  EXPECT_EQ(report.refused,
            (std::map<std::string, std::string>{{"cloud1_region_configs", "malformed_region_set"},
                                                {"cloud2_region.westeurope", "invalid_region_key"}}));
}

TEST_F(SetupSurface, RefusesAKeyThatIsGivenInBothSpellingsWithDifferentValues) {
  auto report = import(R"({"aws_access_key_id":"a","cloud1_access_key_id":"b"})");
  EXPECT_EQ(report.refused.size(), 1u);
  EXPECT_EQ(report.refused.begin()->second, "given_twice");
}

TEST_F(SetupSurface, AuditsAnImportWithNamesAndNoValues) {
  import(R"({"cloud1_secret_access_key":"very-secret"})");
  EXPECT_EQ(i_.audited("config.import"), 1);
  auto details = must(db::read<std::string>(*i_.sql, [](db::Transaction& tx) -> Result<std::string> {
    return TRY(tx.query("SELECT details FROM audit_log WHERE action = 'config.import'"))[0].text(0);
  }));
  EXPECT_NE(details.find("cloud1_secret_access_key"), std::string::npos);
  EXPECT_EQ(details.find("very-secret"), std::string::npos);
}

TEST_F(SetupSurface, ImportsTheSameTwiceWithoutAChange) {
  auto config = R"({"a":"1","cloud1_region.us-east-1.vpc_id":"v"})";
  EXPECT_NE(import(config).change_id, "");
  EXPECT_EQ(import(config).change_id, "");
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

TEST(Vaults, AreListedRegisteredAndRemoved) {
  TestInstance i;
  i.add_user("root", true);
  auto root = i.as("root");
  must(i.vaults.add(root, "primary", "azure_kv"));
  EXPECT_EQ(i.vaults.add(root, "primary", "azure_kv").error().code, Code::conflict);
  EXPECT_EQ(i.vaults.add(root, "a/b", "azure_kv").error().code, Code::invalid);
  EXPECT_EQ(i.vaults.add(root, "x", "nope").error().code, Code::invalid);
  EXPECT_EQ(must(i.vaults.list(root)).size(), 1u);
  must(i.vaults.remove(root, "primary", ""));
  EXPECT_EQ(i.vaults.remove(root, "primary", "").error().code, Code::not_found);
  EXPECT_EQ(config::vault_id_of("azure_kv://primary/epml-pat"), "primary");
  EXPECT_EQ(config::vault_id_of("azure_kv://epml-pat"), "");
  EXPECT_EQ(config::vault_id_of("https://primary/epml-pat"), "");
}

TEST(Webhooks, KeepUrlAndSecretSealedAndShowAHintOnly) {
  TestInstance i;
  i.add_user("root", true);
  auto root = i.as("root");
  WebhookInput input;
  input.name = "ops";
  input.url = Secret("https://hooks.example.com/T000/secret-path");
  input.secret = Secret("hmac-secret");
  auto made = must(i.webhooks.add(root, input));
  EXPECT_EQ(made.url_hint, "https://hooks.example.com/…");
  EXPECT_TRUE(made.has_secret);
  auto all = must(i.webhooks.export_all(root));
  EXPECT_EQ(all[0].url.expose(), "https://hooks.example.com/T000/secret-path");
  WebhookInput patch;
  patch.secret = Secret("");
  patch.url = Secret("");
  EXPECT_FALSE(must(i.webhooks.change(root, made.id, patch)).has_secret);
  EXPECT_EQ(must(i.webhooks.export_all(root))[0].url.expose(), "https://hooks.example.com/T000/secret-path");
  EXPECT_EQ(i.webhooks.change(root, "unknown", patch).error().code, Code::not_found);
}

TEST(Webhooks, RefuseBadUrlsFormatsAndTheTwentyFirst) {
  TestInstance i;
  i.add_user("root", true);
  auto root = i.as("root");
  auto add = [&](std::string url, std::string fmt) {
    WebhookInput input;
    input.url = Secret(std::move(url));
    input.fmt = std::move(fmt);
    return i.webhooks.add(root, input);
  };
  EXPECT_EQ(add("ftp://x", "slack").error().message, "The webhook URL must start with http:// or https://");
  EXPECT_EQ(add("", "slack").error().code, Code::invalid);
  EXPECT_EQ(add("https://x/", "x").error().message,
            "Unknown format 'x'. Expected one of: custom, slack, teams.");
  for (int n = 0; n < 20; ++n) EXPECT_EQ(must(add("https://x/", "slack")).name, "slack");
  EXPECT_EQ(add("https://x/", "slack").error().code, Code::invalid);
}

TEST(Webhooks, RefuseControlCharactersAndAUserInTheUrl) {
  using namespace std::string_literals;
  TestInstance i;
  i.add_user("root", true);
  auto root = i.as("root");
  auto input = [](std::string url) {
    WebhookInput out;
    out.url = Secret(std::move(url));
    return out;
  };
  auto made = must(i.webhooks.add(root, input("https://hooks.example/a")));
  for (const auto& url :
       {"https://hooks.example/a\r\nHost: x"s, "https://hooks.example/\0"s, "https://hooks.example\t/"s,
        "https://hooks.example/\x7f"s, "https://hooks.example/\xc2\x85"s, "http://ann:pw@hooks.example/"s,
        "https://ann@hooks.example"s, "https://@hooks.example/"s, "https://hooks.example\\@10.0.0.1/"s,
        "https://ann@hooks.example?x"s}) {
    EXPECT_EQ(i.webhooks.add(root, input(url)).error().code, Code::validation) << url;
    EXPECT_EQ(i.webhooks.change(root, made.id, input(url)).error().code, Code::validation) << url;
  }
  WebhookInput other;
  other.name = "a\nb";
  EXPECT_EQ(i.webhooks.change(root, made.id, other).error().code, Code::validation);
  other = {};
  other.event_types = "job.failed\0"s;
  EXPECT_EQ(i.webhooks.change(root, made.id, other).error().code, Code::validation);
  for (const auto* url : {"https://hooks.example/@team?to=a@b.example#@", "https://hooks.example:8443",
                          "http://[::1]/\xc3\xa9"})
    EXPECT_TRUE(i.webhooks.change(root, made.id, input(url))) << url;
}

}  // namespace
}  // namespace dash::setup
