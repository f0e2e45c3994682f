#include "core/migrate/apply.hpp"

#include <gtest/gtest.h>

#include "core/migrate/http_target.hpp"
#include "core/net/http/api_client.hpp"
#include "tests/support/fake_dashboard.hpp"
#include "tests/support/must.hpp"

namespace dash::migrate {
namespace {

class Migration {
 public:
  explicit Migration(FakeDashboard& dashboard)
      : api(must(net::ApiClient::open(dashboard, {"http://t.example", {}, {}}))), target(api, Secret()) {}

  Diff diff(std::string_view text) {
    bundle = must(parse_bundle(text, "b.json"));
    selected = must(select(bundle, options.diff.selection, "b.json"));
    return must(compare(bundle, selected, target, options.diff, progress));
  }
  ApplyResult apply(std::string_view text) {
    auto found = diff(text);
    return must(migrate::apply(bundle, selected, found, target, options, progress));
  }

  net::ApiClient api;
  HttpTarget target;
  Bundle bundle;
  SelectedConfig selected;
  NoProgress progress;
  ApplyOptions options{
      {}, {}, {}, [](std::string_view, const ApplyResult&) {}, [](std::chrono::milliseconds) {}};
};

std::string keys(const Diff& diff, Category category) {
  std::string out;
  for (const auto& row : diff.rows)
    if (row.category == category) out += (out.empty() ? "" : " ") + row.key;
  return out;
}

TEST(Diff, SortsKeysIntoTheFourCategories) {
  FakeDashboard target;
  target.config = {{"cloud1_a", "1"}, {"cloud1_b", "old"}, {"epml_pat", "hidden"}};
  target.masked = {"epml_pat"};
  target.has_compare = false;
  auto found = Migration(target).diff(R"({"config":{"aws_a":"1","aws_b":"new","aws_c":"3","epml_pat":"x"}})");
  EXPECT_EQ(keys(found, Category::same), "cloud1_a");
  EXPECT_EQ(keys(found, Category::change), "cloud1_b");
  EXPECT_EQ(keys(found, Category::add), "cloud1_c");
  EXPECT_EQ(keys(found, Category::unknown), "epml_pat");
}

TEST(Diff, AsksTheTargetAboutWhatItMasks) {
  FakeDashboard target;
  target.config = {{"epml_pat", "x"}, {"oidc_client_secret", "y"}};
  target.masked = {"epml_pat", "oidc_client_secret"};
  auto found = Migration(target).diff(R"({"config":{"epml_pat":"x","oidc_client_secret":"z"}})");
  EXPECT_EQ(keys(found, Category::same), "epml_pat");
  EXPECT_EQ(keys(found, Category::change), "oidc_client_secret");
}

TEST(Diff, ComparesRegionFieldsAndNotTexts) {
  FakeDashboard target;
  target.config = {{"cloud2_region_configs", R"({"WEST us 2":{"gallery_name":"g","default_vm_size":"s"}})"}};
  auto found = Migration(target).diff(
      R"({"regions":{"azure":{"westus2":{"gallery_name":"g","default_vm_size":"t","db_subnet_id":"d"}}}})");
  EXPECT_EQ(keys(found, Category::same), "cloud2_region.westus2.gallery_name");
  EXPECT_EQ(keys(found, Category::change), "cloud2_region.westus2.default_vm_size");
  EXPECT_EQ(keys(found, Category::add), "cloud2_region.westus2.db_subnet_id");
}

TEST(Diff, WarnsOfATargetsSetThatCannotBeRead) {
  FakeDashboard target;
  target.config = {{"cloud1_region_configs", "[]"}};
  auto found = Migration(target).diff(R"({"regions":{"aws":{"r":{"f":"1"}}}})");
  ASSERT_EQ(found.warnings.size(), 1u);
  EXPECT_NE(found.warnings[0].find("cloud1_region_configs"), std::string::npos);
}

TEST(Diff, KeepsWhatAnEmptyValueWouldBlank) {
  FakeDashboard target;
  target.config = {{"a", "full"}, {"b", ""}};
  Migration run(target);
  auto found = run.diff(R"({"config":{"a":"","b":"","c":""}})");
  EXPECT_EQ(found.not_overwritten, std::vector<std::string>{"a"});
  EXPECT_EQ(keys(found, Category::same), "b");
  EXPECT_EQ(keys(found, Category::add), "c");
  run.options.diff.selection.allow_empty_values = true;
  EXPECT_EQ(keys(run.diff(R"({"config":{"a":""}})"), Category::change), "a");
}

TEST(Import, SendsOneRequestWithOnlyWhatDiffers) {
  FakeDashboard target;
  target.config = {{"same", "1"}, {"other", "old"}};
  auto done = Migration(target).apply(
      R"({"config":{"same":"1","other":"new","added":"x"},"regions":{"aws":{"r":{"vpc_id":"v"}}}})");
  ASSERT_EQ(target.imports.size(), 1u);
  EXPECT_EQ(target.imports[0]["config"],
            (Json{{"other", "new"}, {"added", "x"}, {"cloud1_region.r.vpc_id", "v"}}));
  EXPECT_TRUE(done.wrote);
  EXPECT_TRUE(check_applied(done));
}

TEST(Import, OfWhatIsThereAlreadyWritesNothing) {
  FakeDashboard target;
  target.config = {{"a", "1"}};
  auto done = Migration(target).apply(R"({"config":{"a":"1"}})");
  EXPECT_FALSE(done.wrote);
  EXPECT_TRUE(target.imports.empty());
}

TEST(Import, ReadsBackAndNamesWhatDidNotStick) {
  FakeDashboard target;
  target.loses_writes = true;
  auto done = Migration(target).apply(R"({"config":{"a":"1"}})");
  EXPECT_EQ(done.not_as_written, std::vector<std::string>{"a"});
  auto result = check_applied(done);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::partial);
  EXPECT_NE(result.error().message.find("read back"), std::string::npos);
}

TEST(Import, WhoseAnswerIsLostSaysThatNobodyKnowsAndWhatToDo) {
  FakeDashboard target;
  target.cut_at = "POST /api/setup/import";
  Migration run(target);
  auto found = run.diff(R"({"config":{"a":"1"}})");
  auto done = migrate::apply(run.bundle, run.selected, found, run.target, run.options, run.progress);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::unreachable);
  EXPECT_NE(done.error().message.find("Run the same import again"), std::string::npos);
  target.cut_at.clear();
  EXPECT_FALSE(run.apply(R"({"config":{"a":"1"}})").wrote);
}

TEST(Import, ThatCannotBeReadBackIsReportedAsWritten) {
  FakeDashboard target;
  Migration run(target);
  auto found = run.diff(R"({"config":{"a":"1"}})");
  run.options.on_stage = [&](std::string_view stage, const ApplyResult& so_far) {
    if (stage != "reading back") return;
    EXPECT_EQ(so_far.write_result.keys_written, 1u);
    target.cut_at = "GET /api/setup/config";
  };
  auto done = must(migrate::apply(run.bundle, run.selected, found, run.target, run.options, run.progress));
  EXPECT_EQ(done.write_result.keys_written, 1u);
  EXPECT_EQ(check_applied(done).error().code, Code::partial);
  EXPECT_NE(check_applied(done).error().message.find("could not be read back"), std::string::npos);
}

TEST(Import, NamesWhatTheTargetRefused) {
  FakeDashboard target;
  target.refuses = {"odd_key"};
  auto done = Migration(target).apply(R"({"config":{"odd_key":"1","fine":"2"}})");
  EXPECT_EQ(done.write_result.refused.count("odd_key"), 1u);
  EXPECT_TRUE(done.not_as_written.empty());
  EXPECT_EQ(check_applied(done).error().code, Code::partial);
}

TEST(Import, NamesWhatTheTargetRefusedAlsoWhenThatIsAll) {
  FakeDashboard target;
  target.refuses = {"odd_key"};
  auto done = Migration(target).apply(R"({"config":{"odd_key":"1"}})");
  EXPECT_EQ(done.write_result.refused, (std::map<std::string, std::string>{{"odd_key", "instance_local"}}));
  EXPECT_EQ(done.write_result.keys_written, 0u);
  EXPECT_FALSE(done.wrote);
  ASSERT_FALSE(check_applied(done));
  EXPECT_EQ(check_applied(done).error().code, Code::partial);
  EXPECT_NE(check_applied(done).error().message.find("odd_key (instance_local)"), std::string::npos);
}

TEST(Import, OfWhichATargetThatNobodyOwnsTakesNothingDoesNotClaimIt) {
  FakeDashboard target;
  target.complete = false;
  target.refuses = {"odd_key"};
  Migration run(target);
  run.options.bootstrap = Bootstrap{Secret("1234"), "boss", Secret("pw")};
  auto found = run.diff(R"({"config":{"odd_key":"1"}})");
  auto done = migrate::apply(run.bundle, run.selected, found, run.target, run.options, run.progress);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::partial);
  EXPECT_NE(done.error().message.find("odd_key (instance_local)"), std::string::npos);
}

TEST(Import, TakesNoChangeIdThatAShellWouldRun) {
  FakeDashboard target;
  Migration run(target);
  auto found = run.diff(R"({"config":{"a":"1"}})");
  for (auto id : {"x; touch pwned", "$(id)", "a\nb", "\x1b[2J"}) {
    target.change_id = id;
    auto done = migrate::apply(run.bundle, run.selected, found, run.target, run.options, run.progress);
    ASSERT_FALSE(done) << id;
    EXPECT_EQ(done.error().code, Code::upstream);
  }
}

TEST(Peer, CountsTheKeyThatItReadsWhereItHoldsBothSpellings) {
  FakeDashboard peer;
  peer.is_peer = true;
  peer.config = {{"aws_access_key_id", "its own"}, {"cloud1_access_key_id", "stray"}};
  EXPECT_EQ(keys(Migration(peer).diff(R"({"config":{"cloud1_access_key_id":"its own"}})"), Category::same),
            "cloud1_access_key_id");
}

TEST(Import, WritesWebhooksRowByRowAndTellsWhichFailed) {
  FakeDashboard target;
  target.endpoints = {
      Json{{"id", "id-0"}, {"name", "ops"}, {"fmt", "custom"}, {"has_secret", false}, {"enabled", true}}};
  target.endpoint_urls = {{"id-0", "https://old"}};
  auto text =
      R"({"config":{"a":"1"},"notification_endpoints":[{"name":"ops","url":"https://new"},{"name":"dev","url":"https://d"}]})";
  auto done = Migration(target).apply(text);
  EXPECT_EQ(done.webhooks_written, 2u);
  EXPECT_EQ(target.endpoint_urls,
            (std::map<std::string, std::string>{{"id-0", "https://new"}, {"id-1", "https://d"}}));
  EXPECT_FALSE(Migration(target).apply(text).wrote);

  FakeDashboard broken;
  broken.refuses_endpoints = true;
  auto failed = Migration(broken).apply(text);
  EXPECT_EQ(failed.failed_webhooks.size(), 2u);
  EXPECT_EQ(check_applied(failed).error().code, Code::partial);
}

TEST(Import, ClaimsATargetThatNobodyOwns) {
  FakeDashboard target;
  target.complete = false;
  Migration run(target);
  run.options.bootstrap = Bootstrap{Secret("1234"), "boss", Secret("pw")};
  run.apply(R"({"config":{"a":"1"}})");
  EXPECT_EQ(target.imports[0]["admin_username"], "boss");
  EXPECT_EQ(target.imports[0]["setup_code"], "1234");
  EXPECT_EQ(target.tokens.back(), "Bearer a.b.c");
}

TEST(Peer, IsSpokenToInItsOwnNames) {
  FakeDashboard peer;
  peer.is_peer = true;
  peer.config = {{"aws_access_key_id", "old"}, {"storage_active_backend", "s3"}};
  auto done = Migration(peer).apply(
      R"({"config":{"cloud1_access_key_id":"new","storage_active_backend":"obj_cloud4"}})");
  EXPECT_EQ(peer.imports.at(0)["config"],
            (Json{{"aws_access_key_id", "new"}, {"storage_active_backend", "oci_object_storage"}}));
  EXPECT_TRUE(check_applied(done));
}

TEST(Peer, IsKnownEvenBeforeItHasAKeyToShow) {
  FakeDashboard peer;
  peer.is_peer = true;
  Migration(peer).apply(R"({"config":{"cloud1_access_key_id":"new"}})");
  EXPECT_EQ(peer.imports.at(0)["config"], (Json{{"aws_access_key_id", "new"}}));
  FakeDashboard ours;
  Migration(ours).apply(R"({"config":{"cloud1_access_key_id":"new"}})");
  EXPECT_EQ(ours.imports.at(0)["config"], (Json{{"cloud1_access_key_id", "new"}}));
}

TEST(Peer, IsNotSentRegionFieldsThatItWouldDrop) {
  FakeDashboard peer;
  peer.is_peer = true;
  peer.config = {{"aws_vpc_id", "x"}};
  Migration run(peer);
  auto text =
      R"({"regions":{"aws":{"r":{"vpc_id":"v","brand_new":"n"},"a.b":{"vpc_id":"v"}},"oci":{"r":{"compartment":"c"}}}})";
  auto done = run.apply(text);
  EXPECT_EQ(peer.imports.at(0)["config"], (Json{{"aws_region.r.vpc_id", "v"}}));
  EXPECT_TRUE(check_applied(done));
  EXPECT_EQ(run.diff(text).would_drop,
            (std::vector<std::string>{"cloud1_region.a.b.vpc_id", "cloud1_region.r.brand_new",
                                      "cloud4_region.r.compartment"}));
}

TEST(Peer, KeepsTheRegionSetsThatTheBundleCouldOnlyReplaceByNothing) {
  FakeDashboard peer;
  peer.is_peer = true;
  peer.config = {{"aws_region_configs", R"({"r1": {"vpc_id": "v"}, "r2": {"vpc_id": "w"}})"},
                 {"gcp_region_configs", R"({"z": {"zone": "a"}})"}};
  auto before = peer.config;
  Migration run(peer);
  run.options.diff.selection.replace_regions = true;
  auto text =
      R"({"regions":{"aws":{"r1":{"vpc_id":"n","own":"x"}},"gcp":{"z":{"own":"x"}},"oci":{"o":{"c":"d"}},"azure":{"w":{}}}})";
  auto found = run.diff(text);
  EXPECT_EQ(keys(found, Category::change), "cloud1_region_configs");
  EXPECT_EQ(found.would_drop,
            (std::vector<std::string>{"cloud1_region.r1.own", "cloud3_region.z.own", "cloud4_region.o.c"}));
  EXPECT_EQ(found.would_vanish, std::vector<std::string>{"cloud1_region.r2"});
  EXPECT_EQ(found.not_replaced, (std::vector<std::string>{"cloud2", "cloud3", "cloud4"}));
  auto done = run.apply(text);
  EXPECT_EQ(peer.imports.at(0)["config"], (Json{{"aws_region_configs", R"({"r1": {"vpc_id": "n"}})"}}));
  EXPECT_EQ(peer.config["gcp_region_configs"], before["gcp_region_configs"]);
  ASSERT_FALSE(check_applied(done));
  EXPECT_EQ(check_applied(done).error().code, Code::partial);
  EXPECT_NE(check_applied(done).error().message.find("cloud2, cloud3, cloud4"), std::string::npos);
  auto again = run.apply(text);
  EXPECT_FALSE(again.wrote);
  EXPECT_EQ(check_applied(again).error().code, Code::partial);
}

TEST(Import, ComparesRegionSetsThatHideAFieldBlindly) {
  FakeDashboard target;
  std::string hides = R"({"r": {"a": "1", "s": "••••••••"}})";
  target.config = {{"cloud1_region_configs", hides}, {"cloud1_region.r.s", "secret"}};
  Migration run(target);
  run.options.diff.selection.replace_regions = true;
  EXPECT_EQ(keys(run.diff(R"({"regions":{"aws":{"r":{"a":"1","s":"secret"}}}})"), Category::same),
            "cloud1_region_configs");
  EXPECT_EQ(keys(run.diff(R"({"regions":{"aws":{"r":{"a":"1","s":"other"}}}})"), Category::change),
            "cloud1_region_configs");
  auto masked = run.diff(R"({"regions":{"aws":{"r":{"a":"2","s":"••••••••","t":"••••••••"}}}})");
  EXPECT_EQ(masked.to_write.at("cloud1_region_configs"), R"({"r": {"a": "2", "s": "••••••••"}})");
  EXPECT_EQ(masked.masked, std::vector<std::string>{"cloud1_region.r.t"});
  target.has_compare = false;
  EXPECT_EQ(keys(run.diff(R"({"regions":{"aws":{"r":{"a":"1","s":"secret"}}}})"), Category::unknown),
            "cloud1_region_configs");
}

TEST(Import, AlwaysSaysHowRegionSetsAreMeant) {
  FakeDashboard target;
  Migration run(target);
  run.apply(R"({"config":{"a":"1"}})");
  run.options.diff.selection.replace_regions = true;
  run.apply(R"({"regions":{"aws":{"r":{"f":"1"}}}})");
  EXPECT_EQ(target.imports.at(0)["regions"], "merge");
  EXPECT_EQ(target.imports.at(1)["regions"], "replace");
}

TEST(Peer, LeavesWhatItMasksUnknownAndSoUnverified) {
  FakeDashboard peer;
  peer.is_peer = true;
  peer.config = {{"aws_secret_access_key", "x"}};
  peer.masked = {"aws_secret_access_key"};
  auto done = Migration(peer).apply(R"({"config":{"cloud1_secret_access_key":"y"}})");
  EXPECT_EQ(done.unverified, std::vector<std::string>{"cloud1_secret_access_key"});
  EXPECT_TRUE(check_applied(done));
}

TEST(Peer, MayAnswerFromACacheForAWhile) {
  FakeDashboard peer;
  peer.is_peer = true;
  peer.loses_writes = true;
  peer.config = {{"aws_vpc_id", "old"}};
  Migration run(peer);
  int waits = 0;
  run.options.wait = [&](std::chrono::milliseconds) {
    if (++waits == 3) peer.config["aws_vpc_id"] = "new";
  };
  EXPECT_TRUE(check_applied(run.apply(R"({"config":{"cloud1_vpc_id":"new"}})")));
  EXPECT_EQ(waits, 3);
}

TEST(VaultReferences, AreWarnedAboutSoftlyWhereTheTargetCannotTell) {
  FakeDashboard peer;
  peer.is_peer = true;
  peer.config = {{"aws_vpc_id", "x"}};
  auto text = R"({"config":{"epml_pat":"azure_kv://prod/pat","other":"bt_safe://alone"}})";
  auto soft = Migration(peer).diff(text).warnings;
  ASSERT_EQ(soft.size(), 1u);
  EXPECT_NE(soft[0].find("may name the vault 'prod'"), std::string::npos);
  FakeDashboard ours;
  auto firm = Migration(ours).diff(text).warnings;
  ASSERT_EQ(firm.size(), 1u);
  EXPECT_NE(firm[0].find("is not registered"), std::string::npos);
  EXPECT_NE(firm[0].find("epml_pat"), std::string::npos);
}

}  // namespace
}  // namespace dash::migrate
