#include "core/setup/rules.hpp"

#include <gtest/gtest.h>

#include "core/config/number_limits.hpp"
#include "core/setup/settings_page.hpp"
#include "tests/support/instance.hpp"

namespace dash::setup {
namespace {

std::string keys_matching(const std::vector<std::string>& patterns) {
  const config::Values values{{"a_key", ""}, {"b", ""}, {"b_x_end", ""}, {"b_y", ""}, {"c", ""}};
  std::string out;
  for (const auto* entry : matching(patterns, values)) out += entry->first + " ";
  return out;
}

TEST(Matching, FindsTheKeysOfAllPatternsSortedAndOnce) {
  EXPECT_EQ(keys_matching({"b*end", "b", "a_*", "a_key"}), "a_key b b_x_end ");
  EXPECT_EQ(keys_matching({"*_end", "*y"}), "a_key b_x_end b_y ");
  EXPECT_EQ(keys_matching({"*"}), "a_key b b_x_end b_y c ");
  EXPECT_EQ(keys_matching({"b_", "bb*", ""}), "");
}

class SettingsRules : public testing::Test {
 protected:
  void SetUp() override { i_.add_user("root", true); }
  void store(const config::Changes& changes) { must(i_.config.apply(changes, {"root", "test"})); }
  // "" when it is written.
  std::string change(const config::Changes& changes) {
    auto done = i_.config_service.change(i_.as("root"), changes, "api");
    return done ? "" : fmt::format("{} {}", info(done.error().code).http_status, done.error().message);
  }
  std::string page(std::string_view body) {
    auto done = i_.config_service.change_storage(i_.as("root"), must(parse_json(body)));
    return done ? "" : fmt::format("{} {}", info(done.error().code).http_status, done.error().message);
  }
  std::map<std::string, std::string> import(std::string_view config) {
    return must(i_.config_service.import(i_.as("root"), {must(parse_json(config)), {}, {}, "", {}, {}},
                                         "10.0.0.1"))
        .refused;
  }
  config::Values values() { return must(i_.config.all()); }
  TestInstance i_;
};

using Refused = std::map<std::string, std::string>;

TEST_F(SettingsRules, RefuseAnActiveBackendThatIsNotConfiguredWhoeverAsks) {
  EXPECT_EQ(change({{"storage_active_backend", "s3"}}).substr(0, 3), "400");
  EXPECT_NE(change({{"storage_active_backend", "s3"}}).find("storage_obj_cloud1_bucket"), std::string::npos);
  EXPECT_EQ(change({{"storage_active_backend", "ftp"}}).substr(0, 3), "400");
  EXPECT_EQ(page(R"({"storage_active_backend":"agent_local","storage_agent_id":"a"})").substr(0, 3), "400");
  EXPECT_EQ(import(R"({"storage_active_backend":"s3","fine":"1"})"),
            (Refused{{"storage_active_backend", "not_configured"}}));
  EXPECT_EQ(values(), (config::Values{{"fine", "1"}}));
  EXPECT_EQ(change({{"storage_active_backend", "s3"}, {"storage_obj_cloud1_bucket", "b"}}), "");
}

TEST_F(SettingsRules, KeepTheActiveBackendAndTheHubConfigured) {
  store({{"storage_obj_cloud1_bucket", "b"},
         {"storage_obj_cloud3_bucket", "c"},
         {"storage_active_backend", "obj_cloud1"},
         {"storage_hub_backend", "obj_cloud3"}});
  EXPECT_EQ(change({{"storage_obj_cloud1_bucket", std::nullopt}}).substr(0, 3), "400");
  EXPECT_EQ(page(R"({"storage_s3_bucket":""})").substr(0, 3), "400");
  EXPECT_EQ(page(R"({"storage_gcs_bucket":" "})").substr(0, 3), "400");
  EXPECT_EQ(import(R"({"storage_gcs_bucket":"","fine":"1"})"),
            (Refused{{"storage_gcs_bucket", "not_configured"}}));
  EXPECT_EQ(page(R"({"storage_gcs_bucket":"","storage_hub_backend":""})"), "");
}

TEST_F(SettingsRules, RefuseAHubThatIsNoObjectStore) {
  store({{"storage_local_path", "/x"}});
  EXPECT_EQ(page(R"({"storage_hub_backend":"local"})").substr(0, 3), "400");
  EXPECT_EQ(change({{"storage_hub_backend", "agent_local"}}).substr(0, 3), "400");
  EXPECT_EQ(page(R"({"storage_hub_backend":"gcs"})").substr(0, 3), "400");
  EXPECT_EQ(import(R"({"storage_hub_backend":"local","fine":"1"})"),
            (Refused{{"storage_hub_backend", "hub_not_object_store"}}));
  EXPECT_EQ(page(R"({"storage_hub_backend":"gcs","storage_gcs_bucket":"b"})"), "");
}

TEST_F(SettingsRules, KeepLocalAndACloudRunnerApartInBothDirections) {
  store({{"automation_runner", "ecs"}, {"storage_obj_cloud1_bucket", "b"}});
  EXPECT_EQ(change({{"storage_local_path", "/x"}}), "");
  EXPECT_EQ(page(R"({"storage_active_backend":"local"})").substr(0, 3), "400");
  EXPECT_EQ(change({{"storage_active_backend", "local"}}).substr(0, 3), "400");
  EXPECT_EQ(import(R"({"storage_active_backend":"local","fine":"1"})"),
            (Refused{{"storage_active_backend", "runner_local"}}));
  EXPECT_EQ(change({{"storage_active_backend", "local"}, {"automation_runner", "local"}}), "");
  EXPECT_EQ(change({{"automation_runner", "ecs"}}).substr(0, 3), "400");
  EXPECT_EQ(import(R"({"ansible_runner":"ecs","fine":"2"})"), (Refused{{"ansible_runner", "runner_local"}}));
  EXPECT_EQ(change({{"automation_runner", "ecs"}, {"storage_active_backend", "s3"}}), "");
}

TEST_F(SettingsRules, KeepTheRunnerLocalWhereTheFolderIsActiveWithoutBeingChosen) {
  store({{"storage_local_path", "/x"}});
  EXPECT_EQ(change({{"automation_runner", "ecs"}}).substr(0, 3), "400");
  EXPECT_EQ(change({{"automation_runner", "ecs"}, {"storage_obj_cloud1_bucket", "b"}}), "");
}

TEST_F(SettingsRules, TurnAutomationOnOnlyWithStorage) {
  EXPECT_EQ(change({{"ansible_enabled", "1"}}).substr(0, 3), "409");
  auto panel =
      change_settings_page(i_.config, i_.config_service, i_.as("root"), "ansible", {{"enabled", true}});
  ASSERT_FALSE(panel);
  EXPECT_EQ(panel.error().code, Code::conflict);
  EXPECT_EQ(import(R"({"ansible_enabled":true,"fine":"1"})"),
            (Refused{{"ansible_enabled", "needs_storage"}}));
  EXPECT_EQ(change({{"ansible_enabled", "1"}, {"storage_obj_cloud1_bucket", "b"}}), "");
  EXPECT_EQ(change({{"storage_obj_cloud1_bucket", std::nullopt}}).substr(0, 3), "409");
  EXPECT_EQ(change({{"storage_obj_cloud1_bucket", std::nullopt}, {"ansible_enabled", "0"}}), "");
}

TEST_F(SettingsRules, DoNotBlockAChangeThatHasNothingToDoWithWhatIsWrongAlready) {
  store(
      {{"storage_active_backend", "obj_cloud1"}, {"storage_hub_backend", "local"}, {"ansible_enabled", "1"}});
  EXPECT_EQ(change({{"app_url", "https://h"}, {"storage_obj_cloud1_region", "eu-west-1"}}), "");
}

TEST_F(SettingsRules, LeaveOutOfAnImportWhatDependsOnARefusedKey) {
  EXPECT_EQ(
      import(
          R"({"storage_hub_backend":"local","storage_active_backend":"azure_blob","ansible_enabled":"1","a":"b"})"),
      (Refused{{"storage_hub_backend", "hub_not_object_store"},
               {"storage_active_backend", "not_configured"},
               {"ansible_enabled", "needs_storage"}}));
  EXPECT_EQ(values(), (config::Values{{"a", "b"}}));
}

TEST_F(SettingsRules, NameEveryRefusedKeyWhenNothingIsLeft) {
  auto report = must(i_.config_service.import(
      i_.as("root"), {must(parse_json(R"({"storage_active_backend":"s3"})")), {}, {}, "", {}, {}},
      "10.0.0.1"));
  EXPECT_TRUE(report.is_all_refused);
  EXPECT_EQ(report.refused, (Refused{{"storage_active_backend", "not_configured"}}));
  EXPECT_EQ(i_.audited("config.import"), 0);
}

TEST_F(SettingsRules, RefuseNumbersThatNobodyCouldUse) {
  for (const auto& limits : config::number_limits()) {
    std::string key(limits.key);
    if (limits.is_shared) {
      EXPECT_EQ(import(dump_json(Json{{key, "soon"}})), Refused{}) << key;
      continue;
    }
    for (const std::string& wrong :
         {std::string("soon"), std::string("1.5"), std::string("99999999999999999999"),
          std::to_string(limits.min - 1), std::to_string(limits.max + 1)})
      EXPECT_EQ(change({{key, wrong}}).substr(0, 3), "400") << key << " " << wrong;
    for (const auto& right : {limits.min, limits.max})
      EXPECT_EQ(change({{key, std::to_string(right)}}), "") << key << " " << right;
    EXPECT_EQ(change({{key, std::nullopt}}), "");
  }
  EXPECT_EQ(import(R"({"approval_expiry_hours":"never","fine":"1"})"),
            (Refused{{"approval_expiry_hours", "invalid_value"}}));
}

TEST_F(SettingsRules, RefuseAFolderOfTheHostAsTheLocalRootAndLeaveItOutOfAnImport) {
  EXPECT_EQ(change({{"storage_local_path", "/etc"}}).substr(0, 3), "400");
  EXPECT_EQ(page(R"({"storage_local_path":" / "})").substr(0, 3), "400");
  EXPECT_EQ(import(R"({"storage_local_path":"/etc","fine":"1"})"),
            (Refused{{"storage_local_path", "path_refused"}}));
  EXPECT_EQ(import(R"({"storage_local_path":"/srv/assets","fine":"2"})"),
            (Refused{{"storage_local_path", "local_path"}}));
  EXPECT_EQ(change({{"storage_local_path", "/srv/assets"}}), "");
  EXPECT_EQ(page(R"({"storage_local_path":"\\\\files\\etc"})"), "");
  store({{"storage_local_path", "/etc"}});
  EXPECT_EQ(page(R"({"storage_local_path":"/etc","promote_runner_image":"x"})"), "")
      << "stored before, not written";
}

TEST_F(SettingsRules, RefusePrefixesUnderWhichTheDashboardKeepsItsOwn) {
  EXPECT_EQ(change({{"storage_obj_cloud1_prefix", "iac-state/x"}}).substr(0, 3), "400");
  EXPECT_EQ(page(R"({"storage_gcs_prefix":"images"})").substr(0, 3), "400");
  EXPECT_EQ(import(R"({"storage_azure_prefix":"dashctl-audit/","fine":"1"})"),
            (Refused{{"storage_azure_prefix", "prefix_reserved"}}));
  EXPECT_EQ(change({{"storage_obj_cloud4_prefix", "team/images"}}), "");
}

TEST_F(SettingsRules, HoldForARollbackToo) {
  must(i_.config_service.change(i_.as("root"), {{"storage_obj_cloud1_bucket", "b"}}, "api"));
  auto bucket = must(i_.config.history("storage_obj_cloud1_bucket", 0, 1)).at(0).change_id;
  must(i_.config_service.change(i_.as("root"), {{"storage_active_backend", "s3"}}, "api"));
  auto undone = i_.config_service.rollback(i_.as("root"), bucket);
  ASSERT_FALSE(undone);
  EXPECT_EQ(undone.error().code, Code::invalid);
  EXPECT_EQ(values()["storage_obj_cloud1_bucket"], "b");
}

TEST_F(SettingsRules, RefuseASubpathThatLeavesTheShareAndControlCharacters) {
  for (auto path : {"/abs", "\\abs", "a/../b", "C:x"})
    EXPECT_EQ(change({{"storage_agent_subpath", path}}).substr(0, 3), "400") << path;
  EXPECT_EQ(import(R"({"storage_agent_subpath":"/abs","fine":"1"})"),
            (Refused{{"storage_agent_subpath", "path_refused"}}));
  EXPECT_EQ(page("{\"storage_obj_cloud1_bucket\":\"a\\nb\"}").substr(0, 3), "400");
  EXPECT_EQ(change({{"storage_agent_subpath", "a/b"}}), "");
}

TEST_F(SettingsRules, RefuseAnApprovalOfPlansThatNobodyKnows) {
  EXPECT_EQ(change({{"deploy_plan_approval", "sometimes"}}).substr(0, 3), "400");
  EXPECT_EQ(import(R"({"deploy_plan_approval":"on","fine":"1"})"),
            (Refused{{"deploy_plan_approval", "invalid_value"}}));
  for (auto mode : {"off", "changes", "Always", ""}) EXPECT_EQ(change({{"deploy_plan_approval", mode}}), "");
}

}  // namespace
}  // namespace dash::setup
