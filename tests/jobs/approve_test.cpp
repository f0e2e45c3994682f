#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

using Strings = std::vector<std::string>;

class ApprovalOf : public JobsFixture {
 protected:
  ApprovalOf() { gate_.hold("big"); }
  Code refused(const Principal& principal, const std::string& id, ApprovalKind what = ApprovalKind::all) {
    auto result = jobs_.approve(principal, id, what);
    EXPECT_FALSE(result);
    return result ? Code::internal : result.error().code;
  }
  std::string held_ = deployed_held();
  std::string deployed_held() {
    gate_.hold("big");
    return deployed().id;
  }
};

TEST_F(ApprovalOf, AnotherUserWithThePermissionMakesTheJobClaimable) {
  auto approved = must(jobs_.approve(bob_, held_, ApprovalKind::all));
  EXPECT_FALSE(approved.was_already_approved);
  EXPECT_EQ(state(held_), State::pending);
  EXPECT_EQ(job(held_).policy_approval->by, "bob");
  EXPECT_EQ(audited(), (Strings{"cloud1:vm:deploy:needs_approval", "change_approved"}));
  EXPECT_TRUE(must(jobs_.approve(root_, held_, ApprovalKind::all)).was_already_approved);
}

TEST_F(ApprovalOf, OnesOwnJobIsNobodysEvenAsAdmin) {
  auto alice = user("alice", {"change_windows:use"});
  EXPECT_EQ(refused(alice, held_), Code::forbidden);
  alice.is_admin = true;
  EXPECT_EQ(refused(alice, held_), Code::forbidden);
  EXPECT_EQ(refused(user("dave"), held_), Code::forbidden);
  EXPECT_EQ(refused(bob_, "no-such-job"), Code::not_found);
  EXPECT_EQ(state(held_), State::awaiting_approval);
}

TEST_F(ApprovalOf, AJobThatNeedsNoneIsAMistake) {
  gate_.allow();
  EXPECT_EQ(refused(bob_, deployed().id), Code::invalid);
}

TEST_F(ApprovalOf, RulesThatChangedIsVoid) {
  gate_.rules = "v2";
  gate_.hold("bigger");
  EXPECT_EQ(refused(bob_, held_), Code::conflict);
  EXPECT_EQ(job(held_).approval_reasons, Strings{"bigger"});
  EXPECT_EQ(state(held_), State::awaiting_approval);
  must(jobs_.approve(bob_, held_, ApprovalKind::all));
  EXPECT_EQ(state(held_), State::pending);
}

TEST_F(ApprovalOf, WhatTheRulesRefuseNowCancelsTheJob) {
  gate_.rules = "v2";
  gate_.deny("never");
  EXPECT_EQ(refused(bob_, held_), Code::conflict);
  EXPECT_EQ(state(held_), State::cancelled);
  EXPECT_EQ(job(held_).reason, "policy");
  EXPECT_EQ(audited().back(), "cloud1:vm:deploy:denied");
}

TEST_F(ApprovalOf, ARejectedExpiredOrCancelledJobComesTooLate) {
  must(jobs_.reject(bob_, held_, "not now"));
  EXPECT_EQ(state(held_), State::rejected);
  EXPECT_EQ(job(held_).message, "not now");
  EXPECT_EQ(refused(bob_, held_), Code::conflict);
  auto second = deployed_held();
  clock_.advance(std::chrono::hours(72));
  EXPECT_EQ(refused(bob_, second), Code::conflict);
  must(jobs_.sweep());
  EXPECT_EQ(state(second), State::expired);
  auto third = deployed_held();
  must(jobs_.cancel(alice_, third));
  EXPECT_EQ(state(third), State::cancelled);
  EXPECT_EQ(refused(bob_, third), Code::conflict);
  EXPECT_EQ(jobs_.cancel(alice_, third).error().code, Code::conflict);
}

TEST_F(ApprovalOf, TwoGatesNeedsBoth) {
  set("change_approval_required", "true");
  auto id = deployed(machine({{"run_at", "2026-07-04T10:00"}})).id;
  must(jobs_.approve(bob_, id, ApprovalKind::policy));
  EXPECT_EQ(state(id), State::awaiting_approval);
  must(jobs_.approve(root_, id, ApprovalKind::booking));
  EXPECT_EQ(state(id), State::scheduled);
  EXPECT_EQ(job(id).policy_approval->by, "bob");
  EXPECT_EQ(job(id).booking_approval->by, "root");
}

TEST_F(ApprovalOf, ABookingNeedsNoPolicyAndNoEngine) {
  gate_.decision = {};
  set("change_approval_required", "true");
  EXPECT_EQ(deployed().state, State::pending);
  auto id = deployed(machine({{"run_at", "2026-07-04T10:00"}})).id;
  EXPECT_EQ(state(id), State::awaiting_approval);
  must(jobs_.approve(bob_, id, ApprovalKind::all));
  EXPECT_EQ(state(id), State::scheduled);
}

TEST_F(ApprovalOf, WaitingJobsAreSeenByWhoeverMayApprove) {
  EXPECT_EQ(must(jobs_.list(bob_, {})).total, 1);
  EXPECT_TRUE(jobs_.show(bob_, held_));
  EXPECT_EQ(must(jobs_.list(user("dave"), {})).total, 0);
  EXPECT_EQ(jobs_.show(user("dave"), held_).error().code, Code::forbidden);
  EXPECT_TRUE(jobs_.show(user("dave", {"jobs:read"}), held_));
}

constexpr auto kYear = std::chrono::days(365);

TEST_F(ApprovalOf, AClockThatJumpsAheadExpiresWhatWaitsAndARescheduleBringsItBack) {
  clock_.advance(kYear);
  EXPECT_EQ(refused(bob_, held_), Code::conflict);
  EXPECT_EQ(state(held_), State::awaiting_approval);
  clock_.advance(-kYear);
  auto other = deployed_held();
  must(jobs_.approve(bob_, other));
  clock_.advance(kYear);
  must(jobs_.sweep());
  clock_.advance(-kYear);
  EXPECT_EQ(state(held_), State::expired);
  EXPECT_EQ(state(other), State::pending);
  EXPECT_EQ(refused(bob_, held_), Code::conflict);
  auto again = must(jobs_.reschedule(alice_, held_, Json::object()));
  EXPECT_EQ(again.state, State::awaiting_approval);
  EXPECT_EQ(again.approval_expires_at, clock_.now() + std::chrono::hours(72));
  EXPECT_EQ(must(jobs_.approve(bob_, held_, ApprovalKind::all, again.approval_digest)).job.state,
            State::pending);
}

TEST_F(ApprovalOf, WhatWasSubmittedUnderAClockAheadCanStillBeDecided) {
  clock_.advance(kYear);
  auto approved = deployed_held(), rejected = deployed_held(), cancelled = deployed_held();
  clock_.advance(-kYear);
  must(jobs_.sweep());
  EXPECT_EQ(must(jobs_.approve(bob_, approved)).job.state, State::pending);
  EXPECT_EQ(must(jobs_.reject(bob_, rejected, "no")).state, State::rejected);
  EXPECT_EQ(must(jobs_.cancel(alice_, cancelled)).state, State::cancelled);
  EXPECT_TRUE(must(jobs_.approve(root_, approved)).was_already_approved);
}

TEST_F(ApprovalOf, ExpiresAtItsHourAndNotBefore) {
  set("approval_expiry_hours", "2");
  auto id = deployed_held();
  clock_.advance(std::chrono::hours(2) - std::chrono::microseconds(1));
  must(jobs_.sweep());
  EXPECT_EQ(state(id), State::awaiting_approval);
  clock_.advance(std::chrono::microseconds(1));
  EXPECT_EQ(refused(bob_, id), Code::conflict);
  must(jobs_.sweep());
  EXPECT_EQ(state(id), State::expired);
  EXPECT_EQ(job(id).reason, "not_approved");
}

}  // namespace
}  // namespace dash::jobs
