// What an approval covers, and when one has to name it.
#include "core/jobs/digest.hpp"

#include "core/base/file.hpp"
#include "core/crypto/hash.hpp"
#include "core/jobs/worker.hpp"
#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

using Strings = std::vector<std::string>;
constexpr auto kAll = ApprovalKind::all;

class ApprovalDigest : public JobsFixture {
 protected:
  ApprovalDigest() { set("change_approval_required", "true"); }
  static Json at(std::string_view time) { return {{"run_at", time}}; }
  Job booked(Json more = Json::object()) {
    auto body = machine(at("2026-07-04T10:00"));
    body.update(more);
    return deployed(body);
  }
  Job moved(const Job& job, std::string_view time) {
    return must(jobs_.reschedule(alice_, job.id, at(time)));
  }
  Code refused(const Principal& principal, const std::string& id,
               const std::optional<std::string>& digest = {}) {
    auto result = jobs_.approve(principal, id, kAll, digest);
    EXPECT_FALSE(result);
    return result ? Code::internal : result.error().code;
  }
  std::string digest(const std::string& id) { return job(id).approval_digest; }
  // As an older release wrote it.
  std::string without_time(const Job& job) {
    return "not_gated:" + crypto::to_hex(crypto::sha256(job.action + "\n" + dump_json(job.request)));
  }
  void make_older(const Job& job, const std::string& digest) {
    must(sql_->write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec("UPDATE jobs SET approval_digest = $2 WHERE id = $1", {job.id, digest}));
      return {};
    }));
  }
  std::vector<Job> batch(int count) {
    return must(deploy(machine({{"count", count}, {"run_at", "2026-07-04T10:00"}}))).jobs;
  }
};

TEST_F(ApprovalDigest, CoversActionRequestRulesRunTimeAndWindow) {
  auto first = booked();
  EXPECT_EQ(booked().approval_digest, first.approval_digest);
  EXPECT_NE(booked({{"name", "db"}}).approval_digest, first.approval_digest);
  EXPECT_NE(booked(at("2026-07-04T10:01")).approval_digest, first.approval_digest);
  set("change_window_grace_minutes", "30");
  EXPECT_NE(booked().approval_digest, first.approval_digest);
  set("change_window_grace_minutes", "60");
  auto window = must(windows_.create(
      root_,
      {{"name", "mornings"}, {"start_at_local", "10:00"}, {"duration_minutes", 60}, {"timezone", "UTC"}}));
  EXPECT_NE(booked({{"change_window_id", window.id}}).approval_digest, first.approval_digest);
  gate_.allow();
  auto gated = booked().approval_digest;
  EXPECT_NE(gated, first.approval_digest);
  gate_.rules = "v2";
  EXPECT_NE(booked().approval_digest, gated);
  EXPECT_TRUE(gated.starts_with("v2:"));
}

TEST_F(ApprovalDigest, IsShownWhereAnApprovalIsNeeded) {
  auto id = booked().id;
  EXPECT_EQ(to_json(job(id))["approval_digest"], digest(id));
  set("change_approval_required", "false");
  EXPECT_EQ(to_json(booked())["approval_digest"], nullptr);
}

TEST_F(ApprovalDigest, IsNeededOnceTheJobMoved) {
  auto first = booked();
  auto second = moved(first, "2026-07-05T10:00");
  EXPECT_NE(second.approval_digest, first.approval_digest);
  EXPECT_EQ(refused(bob_, first.id), Code::conflict);
  EXPECT_EQ(refused(bob_, first.id, first.approval_digest), Code::conflict);
  EXPECT_EQ(refused(bob_, first.id, ""), Code::conflict);
  EXPECT_EQ(must(jobs_.approve(bob_, first.id, kAll, second.approval_digest)).job.state, State::scheduled);
  EXPECT_TRUE(must(jobs_.approve(bob_, first.id, kAll, second.approval_digest)).was_already_approved);
  EXPECT_EQ(refused(bob_, first.id, first.approval_digest), Code::conflict);
}

TEST_F(ApprovalDigest, IsNeededOnceAnApprovalWasVoided) {
  gate_.hold("big");
  auto id = booked().id;
  must(jobs_.approve(bob_, id, ApprovalKind::policy));
  gate_.rules = "v2";
  EXPECT_EQ(refused(root_, id), Code::conflict);
  EXPECT_FALSE(job(id).policy_approval);
  EXPECT_EQ(refused(bob_, id), Code::conflict);
  EXPECT_EQ(must(jobs_.approve(bob_, id, kAll, digest(id))).job.state, State::scheduled);
}

TEST_F(ApprovalDigest, IsNeededAfterAClaimThatVoidedTheApproval) {
  std::filesystem::create_directory(scratch_ / "deploy");
  must(write_file(scratch_ / "deploy/cloud1-vm-deploy", "#!/bin/sh\n", 0755));
  Executors executors{scratch_ / "deploy", ""};
  std::atomic<bool> stop = false;
  gate_.hold("big");
  auto id = deployed().id;
  must(jobs_.approve(bob_, id, kAll));
  gate_.rules = "v2";
  must(Worker(deps_, executors, "w").work(stop));
  EXPECT_EQ(state(id), State::awaiting_approval);
  EXPECT_EQ(refused(bob_, id), Code::conflict);
  must(jobs_.approve(bob_, id, kAll, digest(id)));
  must(Worker(deps_, executors, "w").work(stop));
  EXPECT_EQ(state(id), State::completed);
}

TEST_F(ApprovalDigest, IsNotNeededForWhatNobodyMoved) {
  gate_.hold("big");
  auto id = booked().id;
  must(jobs_.approve(bob_, id, ApprovalKind::policy));
  EXPECT_EQ(must(jobs_.approve(root_, id, ApprovalKind::booking)).job.state, State::scheduled);
}

TEST_F(ApprovalDigest, WhoMovedTheJobDoesNotApproveIt) {
  auto other = user("other");
  other.is_admin = true;
  auto id = booked().id;
  must(jobs_.reschedule(root_, id, at("2026-07-05T10:00")));
  must(jobs_.reschedule(other, id, at("2026-07-06T10:00")));
  EXPECT_EQ(refused(root_, id, digest(id)), Code::forbidden);
  EXPECT_EQ(refused(other, id, digest(id)), Code::forbidden);
  must(jobs_.approve(bob_, id, kAll, digest(id)));
  EXPECT_EQ(must(jobs_.approve(root_, booked().id, kAll)).job.state, State::scheduled);
  auto third = booked().id;
  must(jobs_.reschedule(root_, third, at("2026-07-05T10:00")));
  EXPECT_EQ(must(jobs_.reject(root_, third, "no")).state, State::rejected);
}

TEST_F(ApprovalDigest, WhoMovedOneMachineDoesNotApproveTheBatch) {
  auto jobs = batch(2);
  auto id = *jobs[0].batch_id;
  must(jobs_.reschedule(root_, jobs[1].id, at("2026-07-05T10:00")));
  EXPECT_EQ(refused(root_, id, digest(id)), Code::forbidden);
  EXPECT_EQ(state(jobs[0].id), State::awaiting_approval);
  must(jobs_.approve(bob_, id, kAll, digest(id)));
}

TEST_F(ApprovalDigest, OfABatchCoversAllOfItsJobs) {
  auto jobs = batch(3);
  auto id = *jobs[0].batch_id;
  auto before = digest(id);
  EXPECT_NE(before, jobs[0].approval_digest);
  moved(jobs[2], "2026-07-05T10:00");
  EXPECT_NE(digest(id), before);
  EXPECT_EQ(refused(bob_, id), Code::conflict);
  EXPECT_EQ(refused(bob_, id, before), Code::conflict);
  EXPECT_EQ(refused(bob_, id, digest(jobs[0].id)), Code::conflict);
  EXPECT_EQ(jobs_.reject(bob_, id, "", before).error().code, Code::conflict);
  for (const auto& job : jobs) EXPECT_EQ(state(job.id), State::awaiting_approval);
  EXPECT_EQ(must(jobs_.approve(bob_, id, kAll, digest(id))).job.id, id);
  for (const auto& job : jobs) EXPECT_EQ(state(job.id), State::scheduled);
  EXPECT_TRUE(must(jobs_.approve(bob_, id, kAll, digest(id))).was_already_approved);
}

TEST_F(ApprovalDigest, OfABatchIsApprovedWholeOrNotAtAll) {
  auto jobs = batch(3);
  must(sql_->write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(R"(CREATE TRIGGER third BEFORE UPDATE ON jobs WHEN NEW.name = 'web-03'
                   BEGIN SELECT RAISE(ABORT, 'no'); END)"));
    return {};
  }));
  EXPECT_FALSE(jobs_.approve(bob_, *jobs[0].batch_id, kAll));
  EXPECT_FALSE(jobs_.reject(bob_, *jobs[0].batch_id, ""));
  for (const auto& job : jobs) EXPECT_EQ(state(job.id), State::awaiting_approval);
  EXPECT_EQ(audited(), Strings());
}

TEST_F(ApprovalDigest, ARejectionCountsWithoutOne) {
  auto first = booked();
  auto second = moved(first, "2026-07-05T10:00");
  EXPECT_EQ(jobs_.reject(bob_, first.id, "", first.approval_digest).error().code, Code::conflict);
  EXPECT_EQ(must(jobs_.reject(bob_, first.id, "no")).state, State::rejected);
  auto third = booked();
  EXPECT_EQ(must(jobs_.reject(bob_, third.id, "no", third.approval_digest)).state, State::rejected);
}

// The job is rescheduled while the rules are evaluated for the approver.
TEST_F(ApprovalDigest, AMoveWhileTheRulesAreAskedIsSeen) {
  for (bool names_digest : {false, true}) {
    auto first = booked();
    bool is_first = true;
    gate_.on_evaluate = [&](const FakeGate::Call&) {
      if (std::exchange(is_first, false)) moved(first, "2026-07-05T10:00");
      return policy::Decision();
    };
    auto digest = names_digest ? std::optional(first.approval_digest) : std::nullopt;
    EXPECT_EQ(refused(bob_, first.id, digest), Code::conflict);
    gate_.on_evaluate = nullptr;
    EXPECT_EQ(state(first.id), State::awaiting_approval);
    EXPECT_FALSE(job(first.id).booking_approval);
  }
}

// There and back: the digest is the same again, but the job is not the evaluated one.
TEST_F(ApprovalDigest, AMoveThereAndBackWhileTheRulesAreAskedIsSeen) {
  auto first = booked();
  bool is_first = true;
  gate_.on_evaluate = [&](const FakeGate::Call&) {
    if (std::exchange(is_first, false)) moved(first, "2026-07-05T10:00"), moved(first, "2026-07-04T10:00");
    return policy::Decision();
  };
  EXPECT_EQ(refused(bob_, first.id, first.approval_digest), Code::conflict);
  EXPECT_EQ(digest(first.id), first.approval_digest);
  EXPECT_EQ(must(jobs_.approve(bob_, first.id, kAll, first.approval_digest)).job.state, State::scheduled);
}

// The same the other way round: an approval, or another reschedule, while the rules are evaluated for a
// reschedule.
TEST_F(ApprovalDigest, AMoveCountsOnlyForTheJobThatWasJudged) {
  auto id = booked().id;
  bool is_first = true;
  gate_.on_evaluate = [&](const FakeGate::Call&) {
    if (std::exchange(is_first, false)) must(jobs_.reschedule(root_, id, at("2026-07-06T10:00")));
    return policy::Decision();
  };
  EXPECT_EQ(jobs_.reschedule(alice_, id, at("2026-07-05T10:00")).error().code, Code::conflict);
  EXPECT_EQ(job(id).run_at, must(parse_iso("2026-07-06T10:00:00Z")));
}

TEST_F(ApprovalDigest, AnApprovalThatComesAfterTheTimeIsOverDoesNotCount) {
  auto id = booked().id;
  gate_.on_evaluate = [&](const FakeGate::Call&) {
    clock_.advance(std::chrono::hours(100));
    return policy::Decision();
  };
  EXPECT_EQ(refused(bob_, id), Code::conflict);
  EXPECT_EQ(state(id), State::awaiting_approval);
}

TEST_F(ApprovalDigest, OfAnOlderReleaseStaysGood) {
  std::filesystem::create_directory(scratch_ / "deploy");
  must(write_file(scratch_ / "deploy/cloud1-vm-deploy", "#!/bin/sh\n", 0755));
  Executors executors{scratch_ / "deploy", ""};
  std::atomic<bool> stop = false;
  auto approved = booked(), waiting = booked();
  must(jobs_.approve(bob_, approved.id, kAll));
  make_older(approved, without_time(approved));
  make_older(waiting, without_time(waiting));
  must(jobs_.approve(bob_, waiting.id, kAll, without_time(waiting)));
  clock_.set("2026-07-04T10:00:00Z");
  must(jobs_.sweep());
  for (int i = 0; i < 2; ++i) must(Worker(deps_, executors, "w").work(stop));
  EXPECT_EQ(state(approved.id), State::completed);
  EXPECT_EQ(state(waiting.id), State::completed);
}

TEST_F(ApprovalDigest, OfAnOlderReleaseEndsWhenTheRulesChange) {
  gate_.hold("big");
  auto job = booked();
  auto decision = gate_.decision;
  decision.action = job.action, decision.policy_digest = gate_.rules;
  auto older = policy::approval_digest(decision, job.request);
  make_older(job, older);
  gate_.rules = "v2";
  EXPECT_EQ(refused(bob_, job.id, older), Code::conflict);
  EXPECT_TRUE(digest(job.id).starts_with("v2:"));
}

TEST_F(ApprovalDigest, StandsInTheAuditLog) {
  auto job = booked();
  must(jobs_.approve(bob_, job.id, kAll));
  auto entry = must(audit::list(audit_, root_, {})).entries.front();
  auto details = must(parse_json(entry.details));
  EXPECT_EQ(details["approval_digest"], job.approval_digest);
  EXPECT_EQ(details["scheduled_for"], "2026-07-04T10:00:00Z");
}

}  // namespace
}  // namespace dash::jobs
