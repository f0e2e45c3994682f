// Those that wait: the caller of a job for its end, and an agent for a job.
#include <thread>

#include "tests/contract/agents_suite.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::agent {
namespace {

using namespace std::chrono_literals;

class AgentWaits : public AgentsContract {};

TEST_P(AgentWaits, RunReturnsTheResultAndTellsTheObserver) {
  auto agent = a_.enrolled("dc1");
  std::vector<std::string> lines, messages;
  AgentJobObserver observer;
  observer.on_log = [&](const std::string& line) { lines.push_back(line); };
  observer.on_progress = [&](int, const std::string& message) { messages.push_back(message); };
  std::jthread worker([&] {
    LeaseReply reply;
    ASSERT_TRUE(wait_until([&] { return !(reply = lease(agent)).job.is_null(); }));
    auto row = a_.row(agent.id);
    std::string id = reply.job["job_id"];
    must(a_.jobs.add_logs(row, id, {{"one", "two"}}));
    must(a_.jobs.heartbeat(row, id, {90, "finishing"}));
    must(a_.jobs.complete(row, id, completed({{"size", 7}})));
  });
  auto done =
      must(a_.jobs.run({agent.id, "agent_storage", Json::object(), Json::object(), "alice"}, observer));
  EXPECT_EQ(done.result, (Json{{"size", 7}}));
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(messages, std::vector<std::string>{"finishing"});
}

TEST_P(AgentWaits, RunReturnsTheAgentsOwnText) {
  auto agent = a_.enrolled("dc1");
  std::jthread worker([&] {
    LeaseReply reply;
    ASSERT_TRUE(wait_until([&] { return !(reply = lease(agent)).job.is_null(); }));
    must(a_.jobs.complete(a_.row(agent.id), reply.job["job_id"],
                          {false, Json::object(), "the share is gone"}));
  });
  auto failed = a_.jobs.run({agent.id, "agent_storage", Json::object(), Json::object(), "alice"});
  EXPECT_EQ(failed.error().code, Code::upstream);
  EXPECT_EQ(failed.error().message, "the share is gone");
}

TEST_P(AgentWaits, AJobThatNobodyFetchesIsCancelledAndALateAnswerIsNotKept) {
  auto agent = a_.enrolled("dc1");
  AgentJobRequest request{agent.id, "agent_storage", Json::object(), Json::object(), "alice"};
  AgentJobObserver observer;
  observer.should_stop = [&] {
    a_.clock.advance(90s);
    return false;
  };
  auto queued = a_.jobs.run(request, observer);
  EXPECT_NE(queued.error().message.find("nothing was changed"), std::string::npos) << queued.error().message;
  EXPECT_EQ(a_.count("agent_jobs WHERE state = 'cancelled'"), 1);

  EXPECT_TRUE(a_.send(agent));
  std::string id;
  std::vector<std::string> answered;
  a_.jobs.on_answer([&](db::Transaction&, const AgentJob& job) -> Result<void> {
    answered.push_back(job.id);
    return {};
  });
  observer.should_stop = [&] {
    if (id.empty()) id = lease(agent).job["job_id"];
    a_.clock.advance(90s);
    return false;
  };
  auto running = a_.jobs.run(request, observer);
  EXPECT_NE(running.error().message.find("may still happen"), std::string::npos) << running.error().message;
  EXPECT_EQ(must(a_.jobs.complete(a_.row(agent.id), id, completed({{"size", 1}}))), AgentJobState::completed);
  EXPECT_EQ(answered, std::vector<std::string>{id});
  EXPECT_EQ(a_.count("agent_jobs WHERE result IS NOT NULL"), 0);
}

TEST_P(AgentWaits, AStoppedRunCancelsItsJobAndHearsItsLastLines) {
  auto agent = a_.enrolled("dc1");
  std::vector<std::string> lines;
  std::atomic<bool> is_stopped = false;
  AgentJobObserver observer;
  observer.on_log = [&](const std::string& line) { lines.push_back(line); };
  observer.should_stop = [&] { return is_stopped.load(); };
  observer.stop_within = 1h;
  std::jthread worker([&] {
    LeaseReply reply;
    ASSERT_TRUE(wait_until([&] { return !(reply = lease(agent)).job.is_null(); }));
    is_stopped = true;
    auto row = a_.row(agent.id);
    std::string id = reply.job["job_id"];
    ASSERT_TRUE(wait_until([&] { return must(a_.jobs.heartbeat(row, id, {})); }));
    must(a_.jobs.add_logs(row, id, {{"cleaned up"}}));
    must(a_.jobs.complete(row, id, {false, Json::object(), "cancelled"}));
  });
  auto stopped = a_.jobs.run({agent.id, "agent_storage", Json::object(), Json::object(), "alice"}, observer);
  EXPECT_EQ(stopped.error().code, Code::interrupted);
  EXPECT_EQ(lines, std::vector<std::string>{"cleaned up"});
}

TEST_P(AgentWaits, AWaitingLeaseWakesForAJobOfAnyProcessAndForItsRevocation) {
  auto agent = a_.enrolled("dc1"), other = a_.enrolled("dc2");
  std::atomic<int> woken = 0, others = 0;
  auto waiting = WaitingLeases::enter(a_.jobs.waiting_leases(), agent.id);
  auto another = WaitingLeases::enter(a_.jobs.waiting_leases(), other.id);
  EXPECT_FALSE(another->wait([&] { ++others; }));
  EXPECT_FALSE(waiting->wait([&] { ++woken; }));
  AgentJobs replica(a_.deps);  // as another process: it knows of no lease here
  must(replica.submit({agent.id, "agent_storage", Json::object(), Json::object(), "alice"}));
  EXPECT_TRUE(wait_until([&] { return woken == 1; }));
  EXPECT_TRUE(waiting->wait([&] { ++woken; }));
  EXPECT_EQ(others, 0);
  Agents operators(a_.deps, replica.waiting_leases());
  must(operators.revoke(a_.root, "dc2"));
  EXPECT_TRUE(wait_until([&] { return others == 1; }));
  EXPECT_EQ(a_.jobs.lease(a_.row(other.id)).error().code, Code::unauthenticated);
}

TEST_P(AgentWaits, NoMoreThan2000LeasesWait) {
  std::vector<std::unique_ptr<WaitingLeases::Lease>> leases;
  for (std::size_t i = 0; i < kMaxWaitingLeases; ++i) {
    leases.push_back(WaitingLeases::enter(a_.jobs.waiting_leases(), fmt::format("agent{}", i)));
    ASSERT_TRUE(leases.back());
  }
  EXPECT_FALSE(WaitingLeases::enter(a_.jobs.waiting_leases(), "one more"));
  leases.pop_back();
  EXPECT_TRUE(WaitingLeases::enter(a_.jobs.waiting_leases(), "one more"));
}

INSTANTIATE_TEST_SUITE_P(Engines, AgentWaits, each_database(), engine_name);

}  // namespace
}  // namespace dash::agent
