#include "core/migrate/apply.hpp"

#include <gtest/gtest.h>

#include "core/migrate/http_target.hpp"
#include "core/net/http/api_client.hpp"
#include "tests/migrate/migration.hpp"
#include "tests/support/fake_dashboard.hpp"
#include "tests/support/must.hpp"

namespace dash::migrate {
namespace {

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

}  // namespace
}  // namespace dash::migrate
