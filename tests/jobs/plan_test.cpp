#include "core/jobs/plan.hpp"

#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

class PlanStore : public JobsFixture {
 protected:
  void store(const std::string& id, const Plan& plan) {
    must(sql_->write([&](db::Transaction& tx) { return store_plan(tx, store_, id, plan); }));
  }
  Job approved(const std::string& id) {
    auto out = job(id);
    out.needs_plan_approval = true;
    out.plan_digest = "d1";
    out.plan_approval = Approval{"bob", clock_.now()};
    return out;
  }
};

TEST_F(PlanStore, TheSettingDecidesWhichPlansWait) {
  struct Row {
    std::string_view mode;
    bool adds, changes, destroys;
  };
  for (const auto& row : {Row{"off", false, false, false}, Row{"changes", false, true, true},
                          Row{" Changes ", false, true, true}, Row{"always", true, true, true},
                          Row{"allways", true, true, true}}) {
    set("deploy_plan_approval", std::string(row.mode));
    EXPECT_EQ(must(needs_approval(settings_, {.add = 3})), row.adds) << row.mode;
    EXPECT_EQ(must(needs_approval(settings_, {.add = 1, .change = 1})), row.changes) << row.mode;
    EXPECT_EQ(must(needs_approval(settings_, {.destroy = 1})), row.destroys) << row.mode;
    EXPECT_EQ(must(needs_approval(settings_, {})), row.mode.starts_with("al")) << row.mode;
  }
  must(store_.apply({{"deploy_plan_approval", std::nullopt}}, {"test", "test"}));
  EXPECT_FALSE(must(needs_approval(settings_, {.destroy = 9})));
}

TEST_F(PlanStore, GivesAnApprovedPlanBackAndNoOther) {
  auto id = deployed().id;
  std::string bytes("PK\x03\x04 secret", 11);
  store(id, {"d0", "", "older", {}});
  store(id, {"d1", "1 to add", bytes, {{"serial", 7}}});
  EXPECT_FALSE(must(approved_plan(*sql_, store_, job(id))));
  auto waiting = approved(id);
  waiting.plan_approval.reset();
  EXPECT_FALSE(must(approved_plan(*sql_, store_, waiting)));
  auto plan = must(approved_plan(*sql_, store_, approved(id)));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->bytes, bytes);
  EXPECT_EQ(plan->digest, "d1");
  EXPECT_EQ(plan->basis, Json({{"serial", 7}}));
  auto rows = must(db::read<std::vector<db::Row>>(
      *sql_, [&](db::Transaction& tx) { return tx.query("SELECT plan FROM job_plans"); }));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].blob(0).find("secret"), std::string::npos);
}

TEST_F(PlanStore, AMissingOrForeignPlanIsNotApplied) {
  auto id = deployed().id, other = deployed(machine({{"name", "db"}})).id;
  EXPECT_EQ(approved_plan(*sql_, store_, approved(id)).error().code, Code::integrity);
  store(id, {"d1", "", "mine", {}});
  must(sql_->write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("INSERT INTO job_plans SELECT $1, basis, plan FROM job_plans", {other}));
    return {};
  }));
  EXPECT_FALSE(approved_plan(*sql_, store_, approved(other)));
}

}  // namespace
}  // namespace dash::jobs
