// The queue of agents' jobs: leases, completions, lines, contents, and what is dropped.
#include <thread>

#include "core/agent/protocol/job_envelope.hpp"
#include "tests/contract/agents_suite.hpp"

namespace dash::agent {
namespace {

using namespace std::chrono_literals;

class AgentQueue : public AgentsContract {};

TEST_P(AgentQueue, LeasesTheOldestJobOnceSignedAsItStands) {
  auto agent = a_.enrolled("dc1");
  auto first = a_.submit(agent.id);
  a_.clock.advance(1s);
  auto second = a_.submit(agent.id);
  auto reply = lease(agent);
  EXPECT_EQ(reply.job["job_id"], first);
  EXPECT_EQ(reply.job["agent_id"], agent.id);
  EXPECT_EQ(reply.job["audience"], agent.audience);
  EXPECT_EQ(reply.job["payload"]["content_b64"], "c2VjcmV0");
  EXPECT_EQ(reply.job["issued_at"], to_micros(a_.clock.now()) / 1'000'000);
  EXPECT_EQ(reply.job["expires_at"], to_micros(a_.clock.now()) / 1'000'000 - 1 + 90 + 60);
  auto key = must(enrol(a_.add("dc2").code)).dashboard_public_key;
  EXPECT_TRUE(is_job_signed_by(key, reply.job, reply.signature));
  EXPECT_EQ(lease(agent).job["job_id"], second);
  EXPECT_TRUE(lease(agent).job.is_null());
}

// Two replicas, each with leases of every agent at the same time.
TEST_P(AgentQueue, TwoReplicasLeaseEachJobOnce) {
  auto database = contract_replica(GetParam(), scratch_);
  audit::Log audit(*database, a_.clock, Secret(std::string(32, 'k')));
  config::EncryptedStore config(*database, a_.clock, Secret(std::string(32, 's')));
  config::Settings settings(config);
  AgentJobs replica({*database, a_.clock, config, settings, audit});
  constexpr int kAgents = 3, kJobs = 6;
  std::vector<Agent> rows;
  std::set<std::string> queued;
  for (int i = 0; i < kAgents; ++i) rows.push_back(a_.row(a_.enrolled(fmt::format("dc{}", i)).id));
  for (int i = 0; i < kAgents * kJobs; ++i)
    queued.insert(a_.submit(rows[static_cast<std::size_t>(i % kAgents)].id));
  std::mutex mutex;
  std::vector<std::string> leased;
  std::vector<std::jthread> threads;
  for (auto* jobs : {&a_.jobs, &replica})
    for (const auto& row : rows)
      threads.emplace_back([&, jobs] {
        for (auto job = must(jobs->lease(row)).job; !job.is_null(); job = must(jobs->lease(row)).job) {
          std::lock_guard lock(mutex);
          EXPECT_EQ(job["agent_id"], row.id);
          leased.push_back(job["job_id"]);
        }
      });
  threads.clear();
  EXPECT_EQ(leased.size(), queued.size());
  EXPECT_EQ(std::set<std::string>(leased.begin(), leased.end()), queued);
}

TEST_P(AgentQueue, HandsOutNothingThatExpiredOrIsNoLongerGranted) {
  auto agent = a_.enrolled("dc1");
  auto expired = a_.submit(agent.id);
  a_.clock.advance(90s);
  EXPECT_TRUE(a_.send(agent));  // online again
  EXPECT_TRUE(lease(agent).job.is_null());
  must(a_.jobs.sweep());
  EXPECT_EQ(must(a_.jobs.find(expired)).state, AgentJobState::cancelled);
  auto withdrawn = a_.submit(agent.id);
  must(a_.agents.change(a_.root, "dc1", {{}, {}, std::vector<std::string>()}));
  EXPECT_EQ(must(a_.jobs.find(withdrawn)).state, AgentJobState::cancelled);
  EXPECT_TRUE(lease(agent).job.is_null());
}

TEST_P(AgentQueue, RefusesByNameBeforeAJobExists) {
  auto refusal = [&](const std::string& id, std::string type = "agent_storage") {
    auto refused = a_.jobs.submit({id, std::move(type), Json::object(), Json::object(), "alice"});
    EXPECT_EQ(refused.error().code, Code::upstream);
    return refused.error().message;
  };
  auto has = [](const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal("nobody"), "not known");
  has(refusal(a_.add("waiting").agent.id), "has not enrolled");
  auto agent = a_.enrolled("dc1");
  has(refusal(agent.id, "agent_automation"), "not granted");
  AgentJobRequest large;
  large.agent_id = agent.id, large.job_type = "agent_storage";
  large.payload = {{"content_b64", std::string(kMaxPayloadBytes, 'x')}};
  EXPECT_EQ(a_.jobs.submit(large).error().code, Code::too_large);
  a_.clock.advance(91s);
  has(refusal(agent.id), "offline");
  must(a_.agents.revoke(a_.root, "dc1"));
  has(refusal(agent.id), "revoked");
  EXPECT_EQ(a_.count("agent_jobs"), 0);
}

TEST_P(AgentQueue, TheFirstCompletionStands) {
  auto agent = a_.enrolled("dc1");
  auto id = a_.submit(agent.id);
  lease(agent);
  auto row = a_.row(agent.id);
  EXPECT_EQ(must(a_.jobs.complete(row, id, completed({{"size", 3}}))), AgentJobState::completed);
  EXPECT_EQ(a_.jobs.complete(row, id, {false, Json::object(), "ConnectionError"}).error().code,
            Code::conflict);
  EXPECT_EQ(must(a_.jobs.take_result(id)), (Json{{"size", 3}}));
  EXPECT_EQ(a_.jobs.take_result(id).error().code, Code::not_found);
}

TEST_P(AgentQueue, AJobOfAnotherAgentIsAsIfItWereNot) {
  auto agent = a_.enrolled("dc1"), other = a_.enrolled("dc2");
  auto id = a_.submit(agent.id);
  auto stranger = a_.row(other.id), owner = a_.row(agent.id);
  auto absent = a_.jobs.heartbeat(stranger, "no-such-job", {}).error().message;
  EXPECT_EQ(a_.jobs.heartbeat(owner, id, {}).error().message, absent);  // not leased yet
  lease(agent);
  EXPECT_EQ(a_.jobs.heartbeat(stranger, id, {}).error().message, absent);
  EXPECT_EQ(a_.jobs.add_logs(stranger, id, {{"x"}}).error().message, absent);
  EXPECT_EQ(a_.jobs.complete(stranger, id, completed()).error().message, absent);
  EXPECT_EQ(a_.jobs.running_job(stranger, id).error().message, absent);
  EXPECT_EQ(must(a_.jobs.running_job(owner, id)).id, id);
}

TEST_P(AgentQueue, ACancelledJobStaysCancelled) {
  auto agent = a_.enrolled("dc1");
  auto id = a_.submit(agent.id);
  lease(agent);
  auto row = a_.row(agent.id);
  EXPECT_FALSE(must(a_.jobs.heartbeat(row, id, {10, "at work"})));
  must(a_.jobs.cancel(id));
  EXPECT_TRUE(must(a_.jobs.heartbeat(row, id, {20, "still"})));
  EXPECT_EQ(must(a_.jobs.add_logs(row, id, {{"last words"}})), 1);
  EXPECT_EQ(must(a_.jobs.complete(row, id, completed({{"size", 1}}))), AgentJobState::cancelled);
  EXPECT_EQ(a_.jobs.complete(row, id, completed()).error().code, Code::conflict);
  EXPECT_EQ(a_.count("agent_jobs WHERE result IS NOT NULL"), 0);
}

TEST_P(AgentQueue, AResultThatIsTooLargeFailsTheJob) {
  auto agent = a_.enrolled("dc1");
  auto id = a_.submit(agent.id);
  lease(agent);
  auto large = completed({{"content_b64", std::string(kMaxResultBytes, 'x')}});
  EXPECT_EQ(must(a_.jobs.complete(a_.row(agent.id), id, large)), AgentJobState::failed);
  EXPECT_NE(must(a_.jobs.find(id)).error.find("262144"), std::string::npos);
}

TEST_P(AgentQueue, KeepsAtMost20000LinesOfAJob) {
  auto agent = a_.enrolled("dc1");
  auto id = a_.submit(agent.id);
  lease(agent);
  must(a_.sql->write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("UPDATE agent_jobs SET log_lines = $1", {kMaxLinesPerJob - 1}));
    return {};
  }));
  EXPECT_EQ(must(a_.jobs.add_logs(a_.row(agent.id), id, {{"a", "b"}})), 1);
  EXPECT_EQ(must(a_.jobs.add_logs(a_.row(agent.id), id, {{"c"}})), 0);
}

TEST_P(AgentQueue, KeepsALineThatIsSentAgainOnce) {
  auto agent = a_.enrolled("dc1");
  auto id = a_.submit(agent.id);
  lease(agent);
  auto row = a_.row(agent.id);
  EXPECT_EQ(must(a_.jobs.add_logs(row, id, {{"a", "b"}, 1})), 2);
  EXPECT_EQ(must(a_.jobs.add_logs(row, id, {{"a", "b"}, 1})), 0);
  EXPECT_EQ(must(a_.jobs.add_logs(row, id, {{"b", "b"}, 2})), 1);
  EXPECT_EQ(must(a_.jobs.add_logs(row, id, {{"after a loss"}, 6})), 1);
  EXPECT_EQ(must(a_.jobs.add_logs(row, id, {{"not numbered"}})), 1);
  EXPECT_EQ(must(a_.jobs.add_logs(row, id, {{"beyond"}, kMaxLinesPerJob + 1})), 0);
  std::string text;
  JobCursor cursor;
  AgentJobObserver observer;
  observer.on_log = [&](const std::string& line) { text += line + "|"; };
  must(a_.jobs.wait(id, a_.clock.now(), observer, cursor));
  EXPECT_EQ(text, "a|b|b|after a loss|not numbered|");
}

TEST_P(AgentQueue, ContentIsSealedAndGoesWithTheAnswer) {
  auto agent = a_.enrolled("dc1");
  auto id = a_.submit(agent.id);
  auto sealed = must(db::read<std::string>(*a_.sql, [&](db::Transaction& tx) -> Result<std::string> {
    return TRY(tx.query("SELECT payload FROM agent_jobs"))[0].blob(0);
  }));
  EXPECT_EQ(sealed.find("c2VjcmV0"), std::string::npos);
  lease(agent);
  EXPECT_EQ(a_.count("agent_jobs WHERE payload IS NOT NULL"), 0);
  must(a_.jobs.complete(a_.row(agent.id), id, completed({{"content_b64", "c2VjcmV0"}})));
  EXPECT_EQ(a_.count("agent_jobs WHERE result IS NOT NULL"), 1);
  must(a_.jobs.take_result(id));
  EXPECT_EQ(a_.count("agent_jobs WHERE result IS NOT NULL"), 0);
}

TEST_P(AgentQueue, TheSweepDropsWhatADeadProcessLeft) {
  auto agent = a_.enrolled("dc1");
  auto untaken = a_.submit(agent.id), silent = a_.submit(agent.id);
  lease(agent), lease(agent);
  auto unleased = a_.submit(agent.id);
  must(a_.jobs.complete(a_.row(agent.id), untaken, completed({{"content_b64", "c2VjcmV0"}})));
  a_.clock.advance(121s);
  must(a_.jobs.sweep());
  EXPECT_EQ(a_.count("agent_jobs WHERE result IS NOT NULL OR payload IS NOT NULL"), 0);
  EXPECT_EQ(must(a_.jobs.find(unleased)).state, AgentJobState::cancelled);
  EXPECT_EQ(must(a_.jobs.find(silent)).state, AgentJobState::running);
  a_.clock.advance(181s);
  must(a_.jobs.sweep());
  EXPECT_EQ(must(a_.jobs.find(silent)).state, AgentJobState::failed);
  EXPECT_TRUE(a_.send(agent));
  EXPECT_EQ(a_.count("agent_nonces"), 1);
  a_.clock.advance(240s);
  must(a_.jobs.sweep());
  EXPECT_EQ(a_.count("agent_nonces"), 0);
  a_.clock.advance(24h);
  must(a_.jobs.sweep());
  EXPECT_EQ(a_.count("agent_jobs"), 0);
}

TEST_P(AgentQueue, TheHistoryOfJobsIsBounded) {
  must(a_.sql->write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(R"(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10010)
                   INSERT INTO agent_jobs (id, agent_id, job_type, state, summary, created_at, created_by,
                                           expires_at, ended_at)
                   SELECT 'job' || i, 'dc1', 'agent_storage', 'completed', '{}', 0, 'alice', 0, $1 + i FROM n)",
                {to_micros(a_.clock.now())}));
    return {};
  }));
  must(a_.jobs.sweep());
  EXPECT_EQ(a_.count("agent_jobs"), 10'000);
  EXPECT_EQ(a_.count("agent_jobs WHERE id IN ('job10010', 'job11')"), 2);
}

INSTANTIATE_TEST_SUITE_P(Engines, AgentQueue, each_database(), engine_name);

}  // namespace
}  // namespace dash::agent
