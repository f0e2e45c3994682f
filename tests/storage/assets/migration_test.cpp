#include "core/storage/assets/migration.hpp"

#include <gtest/gtest.h>

#include "tests/support/storage_instance.hpp"

namespace dash::storage {
namespace {

class MigrationTest : public ::testing::Test {
 protected:
  MigrationTest() {
    world.set("storage_obj_cloud3_bucket", "c");
    for (std::string name : {"a.yml", "b.sh", "dir/c.yml"}) place(name, "content of " + name);
  }
  void place(const std::string& name, const std::string& bytes) {
    must(world.store().put("config-mgmt/" + name, bytes, {}));
  }
  MemoryStore& target() { return *world.stores.at("obj_cloud3"); }
  // Runs as a job that is never stopped, unless a test says so.
  class Control final : public jobs::RunControl {
   public:
    bool should_stop() const override { return stop_when && stop_when(); }
    void log(std::string) override {}
    void report(const jobs::JobProgress& progress) override { reported = progress; }
    void set_detail(std::string, OrderedJson) override {}
    Result<void> flush() override { return {}; }
    jobs::JobProgress reported;  // the meter reports under its lock
    std::function<bool()> stop_when;
  };
  MigrateReport run(bool overwrite = false, const std::string& job_id = "job-1") {
    return must(one.storage.migration().run(world.admin, {"obj_cloud1", "gcs", overwrite}, job_id, control));
  }
  // Stops the job in the middle of a large asset, when the `small` ones are copied.
  void run_half(std::int64_t small = 3) {
    place("large.rpm", std::string(8 * kPartBytes, 'x'));
    control.stop_when = [this, small] { return target().part_calls >= 1 && journal_rows("<>") >= small; };
    EXPECT_TRUE(run().is_stopped);
    control.stop_when = {};
  }
  int status_of_run(const Principal& principal, const std::string& source, const std::string& to) {
    auto report = one.storage.migration().run(principal, {source, to}, "job-1", control);
    return report ? 200 : info(report.error().code).http_status;
  }
  using Names = std::vector<std::string>;
  // Counts the entries whose target_etag compares so with "".
  std::int64_t journal_rows(std::string_view comparison = ">=") {
    return must(db::read<std::int64_t>(*world.sql, [&](db::Transaction& tx) -> Result<std::int64_t> {
      return TRY(tx.query(
          fmt::format("SELECT count(*) FROM migration_journal WHERE target_etag {} ''", comparison)))[0]
          .integer(0);
    }));
  }
  StorageFixture world;
  Replica one{world};
  Control control;
};

}  // namespace

TEST_F(MigrationTest, CopiesEveryAssetAndLeavesTheSource) {
  auto report = run();
  EXPECT_EQ(report.copied, (Names{"a.yml", "b.sh", "dir/c.yml"}));
  EXPECT_EQ(target().bytes_of("config-mgmt/dir/c.yml"), "content of dir/c.yml");
  EXPECT_TRUE(world.store().has("config-mgmt/a.yml"));
  EXPECT_EQ(
      dump_json(to_json(report)),
      R"({"source":"obj_cloud1","target":"obj_cloud3","copied":["a.yml","b.sh","dir/c.yml"],"skipped":[],"failed":[],"summary":"3 copied, 0 skipped (already in target), 0 failed","job_id":"job-1"})");
  EXPECT_EQ(world.audited("storage.migrate").size(), 1u);
}

TEST_F(MigrationTest, SkipsWhatIsThereByNameUnlessToldToOverwrite) {
  must(target().put("config-mgmt/a.yml", "older", {}));
  auto report = run();
  EXPECT_EQ(report.skipped, (Names{"a.yml"}));
  EXPECT_EQ(target().bytes_of("config-mgmt/a.yml"), "older");
  EXPECT_EQ(run().copied, Names{}) << "a second run has nothing to do";
  EXPECT_EQ(run(true).copied.size(), 3u);
  EXPECT_EQ(target().bytes_of("config-mgmt/a.yml"), "content of a.yml");
}

TEST_F(MigrationTest, CopiesLargeAssetsInPartsAndKnowsTheirDigest) {
  std::string large(3 * kPartBytes + 17, 'x');
  large[kPartBytes] = 'y';
  place("large.rpm", large);
  EXPECT_EQ(run().copied.size(), 4u);
  EXPECT_EQ(target().bytes_of("config-mgmt/large.rpm"), large);
  EXPECT_LE(target().largest_part, kPartBytes);
  EXPECT_TRUE(must(one.assets.find(world.admin, "gcs", "large.rpm")).asset.digest.starts_with("p8:"));
}

TEST_F(MigrationTest, GoesOnAfterAnAssetThatFailsAndRetriesOnlyThat) {
  place("large.rpm", std::string(kPartBytes + 1, 'x'));
  target().fail_next_part = true;
  auto report = run();
  EXPECT_EQ(report.copied.size(), 3u);
  ASSERT_EQ(report.failed.size(), 1u);
  EXPECT_EQ(report.failed[0].name, "large.rpm");
  EXPECT_EQ(target().open_uploads(), 0u) << "its parts were discarded";
  EXPECT_EQ(run().copied, (Names{"large.rpm"}));
}

TEST_F(MigrationTest, CarriesTheScope) {
  must(one.scopes.set(world.admin, "obj_cloud1", "a.yml", "web"));
  must(one.scopes.set(world.admin, "obj_cloud3", "b.sh", "data"));
  must(target().put("config-mgmt/b.sh", "theirs", {}));
  run();
  EXPECT_EQ(must(one.scopes.get("obj_cloud3", "a.yml")), "web");
  EXPECT_EQ(must(one.scopes.get("obj_cloud3", "b.sh")), "data") << "what was skipped stays as it was";
  run(true);
  EXPECT_EQ(must(one.scopes.get("obj_cloud3", "b.sh")), std::nullopt) << "the source's, which is none";
}

TEST_F(MigrationTest, LeavesNoScopeBehindForAnAssetThatFailed) {
  place("large.rpm", std::string(kPartBytes + 1, 'x'));
  must(one.scopes.set(world.admin, "obj_cloud1", "large.rpm", "web"));
  target().fail_next_part = true;
  run();
  EXPECT_EQ(must(one.scopes.get("obj_cloud3", "large.rpm")), std::nullopt);
}

TEST_F(MigrationTest, IsForAdminsAndTwoConfiguredBackends) {
  EXPECT_EQ(status_of_run(world.ann, "s3", "gcs"), 403);
  EXPECT_EQ(status_of_run(world.admin, "s3", "obj_cloud1"), 400);
  EXPECT_EQ(status_of_run(world.admin, "s3", "ftp"), 400);
  EXPECT_EQ(status_of_run(world.admin, "", "gcs"), 400);
  EXPECT_EQ(status_of_run(world.admin, "azure_blob", "gcs"), 400);
}

TEST_F(MigrationTest, OpensNoStoreForABackendOntoItself) {
  int opened = 0;
  world.on_open = [&] { ++opened; };
  NoProgress progress;
  for (std::pair<const char*, const char*> same :
       {std::pair("obj_cloud1", "obj_cloud1"), std::pair("s3", "obj_cloud1"), std::pair("obj_cloud1", " s3"),
        std::pair("local", "local")}) {
    EXPECT_EQ(status_of_run(world.admin, same.first, same.second), 400) << same.first << same.second;
    EXPECT_EQ(one.storage.compare(world.admin, {same.first, same.second}, progress).error().code,
              Code::invalid);
    EXPECT_EQ(one.storage.migration().move(world.admin, "a.yml", same.first, same.second, false).error().code,
              Code::invalid);
  }
  EXPECT_EQ(opened, 0);
  EXPECT_EQ(status_of_run(world.admin, "s3", "gcs"), 200);
  EXPECT_GT(opened, 0);
}

TEST_F(MigrationTest, FailsWhereSomethingThatIsNoAssetStandsAndSkipsWhereOneDoes) {
  target().not_objects = {{"config-mgmt/a.yml", "a folder stands there"}};
  target().creation_conflicts = {"config-mgmt/b.sh"};  // another spelling of the name is taken
  auto dry = must(one.storage.migration().plan(world.admin, {"s3", "gcs", false, true}));
  ASSERT_EQ(dry.failed.size(), 1u);
  EXPECT_EQ(dry.failed[0].name, "a.yml");
  for (bool overwrite : {false, true}) {
    auto report = run(overwrite);
    ASSERT_EQ(report.failed.size(), overwrite ? 1u : 2u);
    EXPECT_EQ(report.failed[0].name, "a.yml");
    EXPECT_EQ(report.failed[0].error, "a folder stands there");
    EXPECT_TRUE(report.skipped.empty());
  }
  EXPECT_EQ(run().skipped, (Names{"b.sh", "dir/c.yml"})) << "these are there now";
}

TEST_F(MigrationTest, TellsWhatADryRunWouldDoAndDoesNothing) {
  auto report = must(one.storage.migration().plan(world.admin, {"s3", "gcs", false, true}));
  EXPECT_EQ(report.copied.size(), 3u);
  EXPECT_FALSE(target().has("config-mgmt/a.yml"));
  EXPECT_EQ(to_json(report)["dry_run"], true);
  EXPECT_TRUE(to_json(report)["job_id"].is_null());
  EXPECT_TRUE(world.audited("storage.migrate").empty());
}

TEST_F(MigrationTest, TellsHowFarItIs) {
  place("large.rpm", std::string(kPartBytes + 1, 'x'));
  must(target().put("config-mgmt/a.yml", "theirs", {}));
  run();
  auto expected = kPartBytes + 1 + std::string("content of b.shcontent of dir/c.yml").size();
  EXPECT_EQ(control.reported.items_total, 3u) << "what is skipped does not count";
  EXPECT_EQ(control.reported.items_done, 3u);
  EXPECT_EQ(control.reported.bytes_total, expected);
  EXPECT_EQ(control.reported.bytes_done, expected);
  EXPECT_EQ(control.reported.eta_seconds, 0u);
}

TEST_F(MigrationTest, StopsBetweenTwoPiecesAndLeavesNothingHalfWritten) {
  run_half();
  EXPECT_LT(target().part_calls, 8);
  EXPECT_FALSE(target().has("config-mgmt/large.rpm"));
  EXPECT_EQ(target().open_uploads(), 0u);
  EXPECT_EQ(world.audited("storage.migrate").size(), 1u) << "what it copied stays, so it is recorded";
}

TEST_F(MigrationTest, KeepsItsBandwidthOverAllItems) {
  control.stop_when = [&] {
    world.clock.advance(std::chrono::milliseconds(100));  // time passes while it waits
    return false;
  };
  auto before = world.clock.now();
  must(one.storage.migration().run(world.admin, {"s3", "gcs", false, false, 10}, "job-1", control));
  EXPECT_GE(world.clock.now() - before, std::chrono::seconds(4)) << "49 bytes at 10 a second";
}

TEST_F(MigrationTest, GoesOnFromTheJournalOfItsOwnJob) {
  must(target().put("config-mgmt/b.sh", "theirs", {}));
  run_half(2);
  EXPECT_EQ(journal_rows(), 2);
  auto report = run();
  EXPECT_EQ(report.copied, (Names{"a.yml", "dir/c.yml", "large.rpm"})) << "all of them by this job";
  EXPECT_EQ(report.skipped, (Names{"b.sh"}));
  EXPECT_EQ(journal_rows(), 0) << "the journal of a finished job is of no use";
}

TEST_F(MigrationTest, UsesNothingOfAnotherJobsJournal) {
  run_half();
  EXPECT_EQ(run(false, "job-2").skipped, (Names{"a.yml", "b.sh", "dir/c.yml"}));
}

TEST_F(MigrationTest, CountsAnItemAsDoneOnlyWhileBothSidesAreAsItLeftThem) {
  run_half();
  place("a.yml", "changed at the source");
  must(target().put("config-mgmt/b.sh", "changed at the target", {}));
  must(target().remove("config-mgmt/dir/c.yml"));
  auto report = run();
  EXPECT_EQ(report.copied, (Names{"a.yml", "dir/c.yml", "large.rpm"}));
  EXPECT_EQ(report.skipped, (Names{"b.sh"})) << "it is another's now";
  EXPECT_EQ(target().bytes_of("config-mgmt/a.yml"), "changed at the source");
  EXPECT_EQ(target().bytes_of("config-mgmt/b.sh"), "changed at the target");
}

TEST_F(MigrationTest, KnowsACopyWhoseEndTheJournalDoesNotHave) {
  must(one.scopes.set(world.admin, "obj_cloud1", "a.yml", "web"));
  must(one.scopes.set(world.admin, "obj_cloud3", "a.yml", "data"));
  auto journal = must(MigrationJournal::open(*world.sql, "job-1"));
  must(world.sql->write([&](db::Transaction& tx) -> Result<void> {
    TRY(journal.put(tx, "a.yml", {"some etag", ""}));
    return journal.put(tx, "b.sh", {"some etag", ""});
  }));
  must(target().put("config-mgmt/a.yml", "content of a.yml", {}));
  must(target().put("config-mgmt/b.sh", "content of B.sh", {}));
  auto report = run();
  EXPECT_EQ(report.copied, (Names{"a.yml", "dir/c.yml"}));
  EXPECT_EQ(report.skipped, (Names{"b.sh"}));
  EXPECT_EQ(must(one.scopes.get("obj_cloud3", "a.yml")), "web") << "the step that was not reached";
}

TEST_F(MigrationTest, MovesOneAssetWithItsScope) {
  must(one.scopes.set(world.admin, "obj_cloud1", "a.yml", "web"));
  auto moved = must(one.storage.migration().move(world.admin, "a.yml", "s3", "gcs", false));
  EXPECT_EQ(dump_json(to_json(moved)),
            R"({"ok":true,"moved":"a.yml","from":"obj_cloud1","to":"obj_cloud3"})");
  EXPECT_FALSE(world.store().has("config-mgmt/a.yml"));
  EXPECT_EQ(must(one.scopes.get("obj_cloud3", "a.yml")), "web");
  EXPECT_EQ(must(one.scopes.get("obj_cloud1", "a.yml")), std::nullopt);
}

TEST_F(MigrationTest, MovesOverNothingUnlessTold) {
  must(target().put("config-mgmt/a.yml", "older", {}));
  auto refused = one.storage.migration().move(world.admin, "a.yml", "s3", "gcs", false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_TRUE(world.store().has("config-mgmt/a.yml"));
  must(one.storage.migration().move(world.admin, "a.yml", "s3", "gcs", true));
  EXPECT_EQ(target().bytes_of("config-mgmt/a.yml"), "content of a.yml");
}

TEST_F(MigrationTest, ComparesBackendsByNameSizeAndContent) {
  NoProgress progress;
  run();
  EXPECT_TRUE(must(one.storage.compare(world.admin, {"s3", "gcs"}, progress)).is_same());
  must(target().put("config-mgmt/a.yml", "Content of a.yml", {}));
  must(target().put("config-mgmt/b.sh", "short", {}));
  must(target().put("config-mgmt/z.yml", "x", {}));
  place("only.yml", "x");
  auto compared = must(one.storage.compare(world.admin, {"s3", "gcs"}, progress));
  EXPECT_EQ(compared.same, (Names{"dir/c.yml"}));
  ASSERT_EQ(compared.different.size(), 2u);
  EXPECT_EQ(compared.different[1].why, "15 bytes and 5 bytes");
  EXPECT_EQ(compared.only_source, (Names{"only.yml"}));
  EXPECT_EQ(compared.only_target, (Names{"z.yml"}));
  EXPECT_EQ(to_json(compared)["ok"], false);
  EXPECT_FALSE(one.storage.compare(world.ann, {"s3", "gcs"}, progress));
}

}  // namespace dash::storage
