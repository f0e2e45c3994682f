#include "core/jobs/group_run.hpp"

#include "core/crypto/hash.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/run_now.hpp"
#include "tests/support/jobs_fixture.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::jobs {
namespace {

class GroupRunTest : public JobsFixture {
 protected:
  GroupRunTest() {
    runners_.add(std::string(kAutomationRun),
                 {[](const Job&, const Json&, RunControl&) { return RunResult{}; }});
  }
  // Makes jobs of one group and returns their ids.
  std::vector<std::string> make(int count, const std::string& group) {
    std::vector<std::string> ids;
    for (int i = 0; i < count; ++i) {
      Job job;
      job.action = kAutomationRun, job.name = "site.yml", job.batch_id = group, job.request = Json::object();
      ids.push_back(
          must(enqueue(deps_, root_, job, Json::object(), [&](db::Transaction& tx, const Job& made) {
            return set_run_group(tx, made.id, group);
          })).id);
    }
    return ids;
  }
  std::optional<Job> claim(const std::string& owner) {
    return must(Worker(deps_, executors_, owner).claim());
  }

  Executors executors_{scratch_.path(), ""};
};

TEST_F(GroupRunTest, OneClaimTakesTheWholeGroupAndNothingElse) {
  auto first = make(3, "g1"), second = make(2, "g2");
  auto leader = claim("w1");
  ASSERT_TRUE(leader);
  EXPECT_EQ(leader->id, first[0]);
  for (const auto& id : first) EXPECT_EQ(state(id), State::running);
  for (const auto& id : second) EXPECT_EQ(state(id), State::pending);
  EXPECT_EQ(claim("w2")->id, second[0]);
  EXPECT_FALSE(claim("w3"));
  auto group = must(GroupRun::open(deps_, *leader));
  ASSERT_EQ(group->size(), 2u);
  EXPECT_EQ(group->job(0).id, first[1]);
}

TEST_F(GroupRunTest, ACancelledJobIsLeftOutAndTheNextOneLeads) {
  auto ids = make(3, "g");
  must(jobs_.cancel(root_, ids[0]));
  EXPECT_EQ(claim("w")->id, ids[1]);
  EXPECT_EQ(state(ids[0]), State::cancelled);
}

TEST_F(GroupRunTest, EndsEachJobOnce) {
  auto ids = make(3, "g");
  auto leader = *claim("w");
  {
    auto group = must(GroupRun::open(deps_, leader));
    group->control(0).log("hello");
    group->control(0).set_detail("hosts", OrderedJson::array({"a"}));
    must(group->finish(0, {RunStatus::done}));
    must(group->finish(0, {RunStatus::failed, "late"}));
    EXPECT_EQ(state(ids[1]), State::completed);
    EXPECT_EQ(must(jobs_.logs(root_, ids[1], 0)).at(0).line, "hello");
  }
  EXPECT_EQ(state(ids[2]), State::failed) << "its run was forgotten";
  EXPECT_EQ(state(ids[0]), State::running) << "the leader's worker ends it";
}

TEST_F(GroupRunTest, SeesACancelOfARunningJob) {
  auto ids = make(2, "g");
  auto leader = *claim("w");
  auto group = must(GroupRun::open(deps_, leader));
  EXPECT_FALSE(group->is_cancelled());
  must(jobs_.cancel(root_, ids[1]));
  EXPECT_TRUE(wait_until([&] { return group->is_cancelled(); }));
  EXPECT_TRUE(group->is_cancelled(ids[1]));
  EXPECT_FALSE(group->is_cancelled(ids[0]));
}

TEST_F(GroupRunTest, AJobWithoutAGroupRunsAlone) {
  make(1, "g");
  Job job;
  job.action = kAutomationRun, job.name = "a", job.request = Json::object();
  auto alone = must(enqueue(deps_, root_, job, Json::object(), [](auto&, auto&) { return Result<void>(); }));
  claim("w1");
  auto leader = *claim("w2");
  EXPECT_EQ(leader.id, alone.id);
  EXPECT_EQ(must(GroupRun::open(deps_, leader))->size(), 0u);
}

}  // namespace
}  // namespace dash::jobs
