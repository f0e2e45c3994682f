#include "core/images/image_jobs.hpp"

#include <gtest/gtest.h>

#include "core/jobs/worker.hpp"
#include "tests/support/storage_instance.hpp"

namespace dash::images {
namespace {

class ImageJobsTest : public ::testing::Test {
 protected:
  ImageJobsTest() {
    world.set("storage_obj_cloud3_bucket", "c");
    must(builds.put("exports/a.raw", bytes, {}));
  }
  Result<jobs::Job> enqueue(storage::Replica& by) {
    return by.image_jobs.enqueue(local_operator(), PlaceRequest{"a.raw", "gcs", "exports/a.raw"});
  }
  jobs::Job worked(storage::Replica& by, const std::string& id) {
    EXPECT_TRUE(must(jobs::Worker(by.job_deps, none, "worker").work(stop)));
    return must(by.jobs.show(world.admin, id));
  }
  // Puts the job back, as the sweep does when its worker died.
  void requeue(const std::string& id) {
    must(world.sql->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.query("UPDATE jobs SET state = 'pending', completed_at = NULL WHERE id = $1", {id}));
      return {};
    }));
  }
  std::string bytes = std::string(2048, 'x');
  storage::StorageFixture world;
  storage::Replica one{world}, two{world};
  storage::MemoryStore& builds = *world.stores.at("obj_cloud3");
  jobs::Executors none{world.scratch / "none", ""};
  std::atomic<bool> stop = false;
};

TEST_F(ImageJobsTest, AreRunByAWorkerOfAnyReplica) {
  auto queued = must(enqueue(one));
  EXPECT_EQ(queued.action, "storage:image");
  auto job = worked(two, queued.id);
  EXPECT_EQ(job.state, jobs::State::completed);
  EXPECT_EQ(job.result["source_deleted"], true);
  EXPECT_EQ(job.progress["bytes_done"], 2048);
  EXPECT_EQ(job.progress["bytes_total"], 2048);
  EXPECT_EQ(world.audited("image.place.begin").size(), 1u);
}

TEST_F(ImageJobsTest, ExcludeAnotherOfTheSameName) {
  auto first = must(enqueue(one));
  auto second = enqueue(two);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::conflict);
  EXPECT_NE(second.error().message.find(first.id), std::string::npos);
}

TEST_F(ImageJobsTest, GoOnWhereAnEarlierRunDied) {
  auto id = must(enqueue(one)).id;
  must(world.store().put("images/a.raw", bytes, {}));  // it had copied
  EXPECT_EQ(worked(one, id).result["copied"], false);
  EXPECT_FALSE(builds.has("exports/a.raw"));
  requeue(id);  // it had deleted the original too
  auto job = worked(two, id);
  EXPECT_EQ(job.state, jobs::State::completed);
  EXPECT_EQ(job.result["source_deleted"], true);
}

TEST_F(ImageJobsTest, AreBegunAgainWhereTheirProcessDied) {
  auto dead = must(enqueue(one)).id;
  must(world.sql->write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.query("UPDATE jobs SET state = 'running', lease_owner = 'x', lease_until = 1 WHERE id = $1",
                 {dead}));
    return {};
  }));
  must(world.store().put("images/a.raw", bytes, {}));  // it had copied
  world.clock.advance(std::chrono::hours(1));
  auto result =
      must(one.image_jobs.run(local_operator(), PlaceRequest{"a.raw", "gcs", "exports/a.raw"}, {}, {}));
  EXPECT_EQ(result["copied"], false);
  EXPECT_FALSE(builds.has("exports/a.raw"));
  EXPECT_EQ(must(one.jobs.show(world.admin, dead)).state, jobs::State::failed);
}

TEST_F(ImageJobsTest, TakeNoOtherImageForTheirOwn) {
  auto id = must(enqueue(one)).id;
  must(builds.remove("exports/a.raw"));
  must(world.store().put("images/a.raw", std::string(512, 'y'), {.digest = "p8:other"}));
  auto job = worked(one, id);
  EXPECT_EQ(job.state, jobs::State::failed);
  EXPECT_NE(job.error.value_or("").find("exports/a.raw"), std::string::npos);
}

TEST_F(ImageJobsTest, FailWhenNameObjectOrSettingsChanged) {
  auto id = must(enqueue(one)).id;
  must(world.store().put("images/a.raw", std::string(512, 'y'), {}));
  EXPECT_EQ(worked(one, id).state, jobs::State::failed);
  must(world.store().remove("images/a.raw"));
  id = must(enqueue(one)).id;
  must(builds.put("exports/a.raw", std::string(512, 'z'), {}));
  EXPECT_EQ(worked(one, id).state, jobs::State::failed);
  id = must(enqueue(one)).id;
  world.set("storage_hub_backend", "obj_cloud3");
  EXPECT_EQ(worked(one, id).state, jobs::State::failed);
  EXPECT_TRUE(builds.has("exports/a.raw"));
  EXPECT_FALSE(world.store().has("images/a.raw"));
}

TEST_F(ImageJobsTest, PromoteAndOnlyReadTheHub) {
  must(world.store().put("images/a.raw", bytes, {}));
  auto result = must(one.image_jobs.run(local_operator(), PromoteRequest{"a.raw", "gcp"}, {}, {}));
  EXPECT_EQ(result["staged"]["key"], "promote-staging/a.raw");
  EXPECT_EQ(result["next_step"]["started"], false);
  EXPECT_EQ(builds.bytes_of("promote-staging/a.raw"), bytes);
  EXPECT_EQ(world.store().bytes_of("images/a.raw"), bytes);
  EXPECT_EQ(world.audited("image.promote").size(), 1u);
  EXPECT_EQ(one.image_jobs.run(local_operator(), PromoteRequest{"b.raw", "gcp"}, {}, {}).error().code,
            Code::not_found);
  EXPECT_EQ(one.image_jobs.run(world.ann, PromoteRequest{"a.raw", "gcp"}, {}, {}).error().code,
            Code::forbidden);
}

TEST_F(ImageJobsTest, RunOnlyWhileTheirRequesterIsAnActiveAdmin) {
  auto queued = must(one.image_jobs.enqueue(world.admin, PlaceRequest{"a.raw", "gcs", "exports/a.raw"}));
  auto job = worked(two, queued.id);  // there is no such account any more
  EXPECT_EQ(job.state, jobs::State::failed);
  EXPECT_NE(job.error.value_or("").find("'root'"), std::string::npos);
  EXPECT_TRUE(builds.has("exports/a.raw"));
}

TEST_F(ImageJobsTest, AreCancelledWithTheirCaller) {
  auto run = one.image_jobs.run(local_operator(), PlaceRequest{"a.raw", "gcs", "exports/a.raw"},
                                [] { return true; }, {});
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, Code::conflict);
  EXPECT_TRUE(builds.has("exports/a.raw"));
  EXPECT_FALSE(world.store().has("images/a.raw"));
}

}  // namespace
}  // namespace dash::images
