#include "core/storage/assets/migration_jobs.hpp"

#include <gtest/gtest.h>

#include "core/jobs/worker.hpp"
#include "tests/support/storage_instance.hpp"

namespace dash::storage {
namespace {

class MigrationJobsTest : public ::testing::Test {
 protected:
  MigrationJobsTest() {
    world.set("storage_obj_cloud3_bucket", "c");
    world.set("storage_local_path", world.scratch / "assets");
    must(world.store().put("config-mgmt/a.yml", "content", {}));
    for (std::string name : {"root", "other"}) {
      must(world.sql->write([&](db::Transaction& tx) {
        return one.directory.add(tx, {name, Secret("correct horse"), true, {}, {}}, "x");
      }));
    }
  }
  void change(const std::function<Result<void>(db::Transaction&)>& work) { must(world.sql->write(work)); }
  static MigrateRequest request(std::string source = "s3", std::string target = "gcs") {
    return {std::move(source), std::move(target)};
  }
  Result<OrderedJson> run(const MigrateRequest& wanted, const std::function<bool()>& is_abandoned = {}) {
    return one.migrations.run(world.admin, wanted, is_abandoned);
  }
  jobs::Job job(const std::string& id) { return must(one.jobs.show(world.admin, id)); }
  std::int64_t count_jobs() { return must(one.jobs.list(world.admin, {})).total; }
  bool work(Replica& replica) { return must(jobs::Worker(replica.job_deps, none, "worker").work(stop)); }

  StorageFixture world;
  Replica one{world}, two{world};
  jobs::Executors none{world.scratch / "none", ""};
  std::atomic<bool> stop = false;
};

TEST_F(MigrationJobsTest, AnswersTheReportWithItsJob) {
  auto report = must(run(request()));
  EXPECT_EQ(report["copied"], OrderedJson({"a.yml"}));
  auto done = job(report["job_id"]);
  EXPECT_EQ(done.action, "storage:migrate");
  EXPECT_EQ(done.state, jobs::State::completed);
  EXPECT_EQ(done.created_by, "root");
  EXPECT_EQ(done.result, report);
  EXPECT_EQ(done.progress["items_done"], 1);
  EXPECT_EQ(done.progress["bytes_done"], 7);
  EXPECT_EQ(world.audited("storage.migrate.begin").size(), 1u);
}

TEST_F(MigrationJobsTest, IsRunByAWorkerOfAnyReplicaOnceItIsQueued) {
  auto queued = must(one.migrations.enqueue(world.admin, request()));
  EXPECT_EQ(queued.state, jobs::State::pending);
  EXPECT_TRUE(work(two));
  EXPECT_EQ(job(queued.id).state, jobs::State::completed);
  EXPECT_EQ(job(queued.id).result["copied"], OrderedJson({"a.yml"}));
}

TEST_F(MigrationJobsTest, CompletesAJobWithFailedItems) {
  world.stores.at("obj_cloud3")->not_objects = {{"config-mgmt/a.yml", "a folder stands there"}};
  auto report = must(run(request()));
  EXPECT_EQ(report["failed"][0]["name"], "a.yml");
  EXPECT_EQ(job(report["job_id"]).state, jobs::State::completed);
}

TEST_F(MigrationJobsTest, MakesNoJobForADryRunOrARefusedRequest) {
  auto dry = request();
  dry.is_dry_run = true;
  auto report = must(run(dry));
  EXPECT_TRUE(report["job_id"].is_null());
  EXPECT_EQ(report["copied"], OrderedJson({"a.yml"}));
  EXPECT_EQ(run(request("s3", "s3")).error().code, Code::invalid);
  EXPECT_EQ(one.migrations.enqueue(world.admin, request("s3", "ftp")).error().code, Code::invalid);
  EXPECT_EQ(one.migrations.run(world.ann, request(), {}).error().code, Code::forbidden);
  EXPECT_EQ(one.migrations.enqueue(world.ann, request()).error().code, Code::forbidden);
  EXPECT_EQ(count_jobs(), 0);
}

TEST_F(MigrationJobsTest, ExcludesAnotherOfTheSamePairInEitherDirection) {
  auto first = must(one.migrations.enqueue(world.admin, request()));
  for (const auto& same : {request(), request("obj_cloud3", "obj_cloud1")}) {
    auto refused = two.migrations.run(world.admin, same, {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::conflict);
    EXPECT_NE(refused.error().message.find(first.id), std::string::npos) << refused.error().message;
    EXPECT_EQ(two.migrations.enqueue(world.admin, same).error().code, Code::conflict);
  }
  EXPECT_EQ(count_jobs(), 1);
  must(two.migrations.run(world.admin, request("s3", "local"), {}));
  EXPECT_TRUE(work(one));
  must(run(request("gcs", "s3")));
}

TEST_F(MigrationJobsTest, StopsWhenItsCallerLeavesOrItsJobIsCancelled) {
  auto left = run(request(), [] { return true; });
  ASSERT_FALSE(left);
  EXPECT_EQ(left.error().code, Code::conflict);
  EXPECT_FALSE(world.stores.at("obj_cloud3")->has("config-mgmt/a.yml"));
  auto cancelled = must(one.jobs.list(world.admin, {})).jobs.at(0);
  EXPECT_EQ(cancelled.state, jobs::State::cancelled);
  EXPECT_EQ(cancelled.result["copied"], OrderedJson::array());
  auto queued = must(one.migrations.enqueue(world.admin, request()));
  must(one.jobs.cancel(world.admin, queued.id));
  EXPECT_FALSE(work(one));
  EXPECT_EQ(must(run(request()))["copied"], OrderedJson({"a.yml"})) << "a cancelled one excludes nobody";
}

TEST_F(MigrationJobsTest, RunsOnlyWhileItsRequesterIsAnActiveAdmin) {
  using Change = std::function<Result<void>(db::Transaction&)>;
  const Change changes[] = {[&](db::Transaction& tx) { return one.directory.set_admin(tx, "root", false); },
                            [&](db::Transaction& tx) { return one.directory.set_active(tx, "root", false); },
                            [&](db::Transaction& tx) -> Result<void> {
                              TRY(tx.exec("DELETE FROM users WHERE username = 'root'"));
                              return {};
                            }};
  for (const auto& lose : changes) {
    auto queued = must(one.migrations.enqueue(world.admin, request()));
    change(lose);
    EXPECT_TRUE(work(two));
    EXPECT_EQ(job(queued.id).state, jobs::State::failed);
    EXPECT_NE(job(queued.id).error.value_or("").find("'root'"), std::string::npos)
        << job(queued.id).error.value_or("");
    EXPECT_FALSE(world.stores.at("obj_cloud3")->has("config-mgmt/a.yml"));
    change([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec("UPDATE users SET is_admin = 1, is_active = 1"));
      return {};
    });
  }
}

TEST_F(MigrationJobsTest, TheOperatorAtTheDataFolderIsNoAccount) {
  auto queued = must(one.migrations.enqueue(local_operator(), request()));
  EXPECT_TRUE(work(two));
  EXPECT_EQ(job(queued.id).state, jobs::State::completed);
  auto namesake = make_principal("local", {}, true);
  queued = must(one.migrations.enqueue(namesake, request()));
  EXPECT_TRUE(work(two));
  EXPECT_EQ(job(queued.id).state, jobs::State::failed) << "an account of that name does not exist";
}

TEST_F(MigrationJobsTest, ContinuesOneWhoseProcessDiedWhereNobodySweeps) {
  auto queued = must(one.migrations.enqueue(world.admin, request()));
  ASSERT_TRUE(must(jobs::Worker(one.job_deps, none, "dies").claim()));
  change([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(
        "INSERT INTO migration_journal (job_id, item, source_etag, target_etag) VALUES ($1, 'x', '1', '')",
        {queued.id}));
    return {};
  });
  EXPECT_EQ(run(request()).error().code, Code::conflict) << "its lease lives";
  world.clock.advance(std::chrono::hours(1));
  auto next = must(one.migrations.enqueue(world.admin, request()));
  EXPECT_EQ(job(queued.id).state, jobs::State::failed);
  EXPECT_NE(job(queued.id).error.value_or("").find(next.id), std::string::npos)
      << job(queued.id).error.value_or("");
  EXPECT_TRUE(must(MigrationJournal::open(*world.sql, next.id)).find("x"));
  EXPECT_TRUE(work(two));
  EXPECT_EQ(job(next.id).result["copied"], OrderedJson({"a.yml"}));
}

TEST_F(MigrationJobsTest, GoesBackToTheQueueWhenItsWorkerDies) {
  auto queued = must(one.migrations.enqueue(world.admin, request()));
  ASSERT_TRUE(must(jobs::Worker(one.job_deps, none, "dies").claim()));
  EXPECT_EQ(run(request()).error().code, Code::conflict) << "it still excludes others";
  world.clock.advance(std::chrono::hours(1));
  must(two.jobs.sweep());
  EXPECT_EQ(job(queued.id).state, jobs::State::pending);
  EXPECT_TRUE(work(two));
  EXPECT_EQ(job(queued.id).result["copied"], OrderedJson({"a.yml"}));
}

}  // namespace
}  // namespace dash::storage
