// Approvals over both databases: races of real threads, and what an older release left.
#include <barrier>

#include "tests/contract/databases.hpp"
#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

class ApprovalsContract : public JobsFixture, public testing::WithParamInterface<std::string_view> {
 protected:
  ApprovalsContract()
      : JobsFixture([](const Scratch& scratch) { return contract_database(GetParam(), scratch); }) {
    set("change_approval_required", "true");
  }
  static Json at(std::string_view time) { return {{"run_at", time}}; }
  static void at_once(const std::function<void()>& one, const std::function<void()>& other) {
    std::barrier start(2);
    std::jthread thread([&] {
      start.arrive_and_wait();
      one();
    });
    start.arrive_and_wait();
    other();
  }
};

TEST_P(ApprovalsContract, NoRaceEndsApprovedForATimeThatTheApproverNeverSaw) {
  for (int n = 0; n < 25; ++n) {
    auto seen = deployed(machine(at("2026-07-04T10:00")));
    auto digest = n % 2 == 0 ? std::optional(seen.approval_digest) : std::nullopt;
    bool approved = false, moved = false;
    at_once([&] { approved = jobs_.approve(bob_, seen.id, ApprovalKind::all, digest).has_value(); },
            [&] { moved = jobs_.reschedule(alice_, seen.id, at("2026-07-05T10:00")).has_value(); });
    EXPECT_TRUE(approved || moved);
    auto after = job(seen.id);
    EXPECT_TRUE(after.approved() ? after.run_at == seen.run_at : after.state == State::awaiting_approval);
    EXPECT_EQ(after.approved(), !moved);
  }
}

TEST_P(ApprovalsContract, NoRaceApprovesABatchInPart) {
  for (int n = 0; n < 10; ++n) {
    auto jobs = must(deploy(machine(
                         {{"name", fmt::format("host{}", n)}, {"count", 3}, {"run_at", "2026-07-04T10:00"}})))
                    .jobs;
    auto batch = *jobs[0].batch_id;
    auto digest = job(batch).approval_digest;
    bool approved = false;
    at_once([&] { approved = jobs_.approve(bob_, batch, ApprovalKind::all, digest).has_value(); },
            [&] { std::ignore = jobs_.reschedule(alice_, jobs[2].id, at("2026-07-05T10:00")); });
    for (std::size_t i : {0u, 1u})
      EXPECT_EQ(state(jobs[i].id), approved ? State::scheduled : State::awaiting_approval);
    auto last = job(jobs[2].id);
    EXPECT_TRUE(!last.approved() || last.run_at == jobs[2].run_at);
  }
}

TEST_P(ApprovalsContract, TwoApproversOfOneJobAgreeWhoWasFirst) {
  for (int n = 0; n < 10; ++n) {
    auto id = deployed(machine(at("2026-07-04T10:00"))).id;
    std::optional<ApproveResult> first, second;
    at_once([&] { first = must(jobs_.approve(bob_, id, ApprovalKind::all)); },
            [&] { second = must(jobs_.approve(root_, id, ApprovalKind::all)); });
    EXPECT_NE(first->was_already_approved, second->was_already_approved);
    EXPECT_EQ(first->job.booking_approval->by, second->job.booking_approval->by);
  }
}

TEST_P(ApprovalsContract, AnApprovalAndARejectionDoNotBothCount) {
  for (int n = 0; n < 10; ++n) {
    auto id = deployed(machine(at("2026-07-04T10:00"))).id;
    bool approved = false, rejected = false;
    at_once([&] { approved = jobs_.approve(bob_, id, ApprovalKind::all).has_value(); },
            [&] { rejected = jobs_.reject(root_, id, "no").has_value(); });
    EXPECT_NE(approved, rejected);
    EXPECT_EQ(state(id), approved ? State::scheduled : State::rejected);
  }
}

class ApprovalsUpgrade : public testing::TestWithParam<std::string_view> {};

// Reschedules before the upgrade are in the audit log only.
TEST_P(ApprovalsUpgrade, KnowsWhatWasRescheduledBefore) {
  Scratch scratch;
  auto sql = empty_contract_database(GetParam(), scratch);
  must(db::migrate_schema_to(*sql, 8));
  must(sql->write([](db::Transaction& tx) -> Result<void> {
    constexpr std::string_view kVoided = "the rules changed: it has to be approved again";
    std::int64_t seq = 0;
    for (auto [id, message] : {std::pair("plain", ""), {"moved", ""}, {"voided", kVoided.data()}})
      TRY(tx.exec(
          R"(INSERT INTO jobs
               (id, seq, action, receipt, name, region, request, parameters, state, message,
                created_at, created_by, created_by_admin, needs_policy_approval, needs_booking_approval,
                approval_reasons, approval_digest, attempts, cancel_requested)
             VALUES ($1, $2, 'cloud1:vm:deploy', 'r', 'n', '', '{}', $3, 'awaiting_approval', $4,
               1, 'alice', 0, 0, 1,
               '[]', 'd', 0, 0))",
          {id, ++seq, db::Blob{"p"}, message}));
    for (auto who : {"root", "root", "ann \"x\""})
      TRY(tx.exec(
          R"(INSERT INTO audit_log
               (seq, at, username, action, details, ip_address, request_id, seal, entry_hash)
             VALUES ($1, 1, $2, 'change_rescheduled', '{"job_id":"moved"}', '', '', $3, $3))",
          {++seq, who, db::Blob{"s"}}));
    return {};
  }));
  must(db::migrate_schema(*sql));
  auto answer = [&](std::string_view query) {
    return must(db::read<std::vector<std::string>>(
        *sql, [&](db::Transaction& tx) -> Result<std::vector<std::string>> {
          std::vector<std::string> out;
          for (const auto& row : TRY(tx.query(query))) out.push_back(row.text(0));
          return out;
        }));
  };
  using Strings = std::vector<std::string>;
  EXPECT_EQ(answer("SELECT id FROM jobs WHERE revision > 0 ORDER BY id"), (Strings{"moved", "voided"}));
  EXPECT_EQ(answer("SELECT username FROM job_reschedules WHERE job_id = 'moved' ORDER BY username"),
            (Strings{"ann \"x\"", "root"}));
  EXPECT_EQ(answer("SELECT username FROM job_reschedules WHERE job_id <> 'moved'"), Strings());
}

INSTANTIATE_TEST_SUITE_P(Sqlite, ApprovalsContract, testing::Values("sqlite"));
INSTANTIATE_TEST_SUITE_P(Postgres, ApprovalsContract, testing::Values("postgres"));
INSTANTIATE_TEST_SUITE_P(Sqlite, ApprovalsUpgrade, testing::Values("sqlite"));
INSTANTIATE_TEST_SUITE_P(Postgres, ApprovalsUpgrade, testing::Values("postgres"));

}  // namespace
}  // namespace dash::jobs
