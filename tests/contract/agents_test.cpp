// The dashboard's side of its agents over both databases: identities, the queue, and what it releases.
#include "tests/support/agents.hpp"

#include <thread>

#include "core/agent/protocol/job_envelope.hpp"
#include "core/agent/protocol/sealed_reply.hpp"
#include "tests/contract/databases.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::agent {
namespace {

using namespace std::chrono_literals;

class AgentsContract : public testing::TestWithParam<std::string_view> {
 protected:
  Code code_of(const Result<EnrolReply>& result) { return result ? Code::differences : result.error().code; }
  Result<EnrolReply> enrol(const Secret& code, const std::string& address = "198.51.100.7") {
    auto key = crypto::ed25519_from_seed(Secret(std::string(32, 'a')));
    return a_.enrolment.enrol(AgentsUnderTest::enrol_request(code, key), address, "https://dash.example");
  }
  LeaseReply lease(const EnrolledAgent& agent) { return must(a_.jobs.lease(a_.row(agent.id))); }
  static Completion completed(Json result = Json::object()) { return {true, std::move(result), ""}; }

  Scratch scratch_;
  AgentsUnderTest a_{contract_database(GetParam(), scratch_)};
};

// Identities.

TEST_P(AgentsContract, ACodeWorksOnceAndFor15Minutes) {
  auto issued = a_.add("dc1");
  EXPECT_TRUE(issued.code.expose().starts_with("agte_"));
  EXPECT_EQ(issued.code.expose().size(), 69u);
  EXPECT_EQ(a_.count("agents WHERE code_hash = '" + issued.code.expose() + "'"), 0);
  EXPECT_EQ(status_of(a_.row("dc1"), a_.clock.now()), AgentStatus::enrolling);
  auto reply = must(enrol(Secret(issued.code.expose() + "\n")));
  EXPECT_EQ(reply.name, "dc1");
  EXPECT_EQ(reply.audience, "https://dash.example");
  EXPECT_EQ(code_of(enrol(issued.code)), Code::invalid);
  auto late = a_.add("dc2");
  a_.clock.advance(15min);
  EXPECT_EQ(code_of(enrol(late.code)), Code::invalid);
  EXPECT_EQ(status_of(a_.row("dc1"), a_.clock.now()), AgentStatus::offline);
}

TEST_P(AgentsContract, ABadKeySpendsNoCode) {
  auto issued = a_.add("dc1");
  EnrolRequest request{issued.code, "c2hvcnQ=", "2.7.0", ""};
  EXPECT_EQ(code_of(a_.enrolment.enrol(request, "198.51.100.7", "")), Code::invalid);
  EXPECT_TRUE(enrol(issued.code));
}

TEST_P(AgentsContract, TheEleventhBadCodeOfAnAddressIsThrottledWhateverTheCode) {
  auto issued = a_.add("dc1");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(code_of(enrol(Secret("agte_wrong"))), Code::invalid) << i;
  auto refused = enrol(issued.code);
  EXPECT_EQ(code_of(refused), Code::throttled);
  EXPECT_EQ(refused.error().retry_after, 900s);
  EXPECT_EQ(a_.enrolment.admit("198.51.100.7").error().code, Code::throttled);
  EXPECT_TRUE(enrol(issued.code, "203.0.113.9"));
}

TEST_P(AgentsContract, TheDashboardsKeyAndAudienceStayUntilTheyAreReset) {
  auto first = must(enrol(a_.add("dc1").code));
  a_.set("public_base_url", "https://elsewhere.example/");
  auto second = must(enrol(a_.add("dc2").code));
  EXPECT_EQ(first.dashboard_public_key, second.dashboard_public_key);
  EXPECT_EQ(second.audience, "https://dash.example");
  EXPECT_EQ(must(a_.agents.reset_audience(a_.root)).origin, "https://elsewhere.example");
  EXPECT_EQ(must(enrol(a_.add("dc3").code)).audience, "https://elsewhere.example");
}

TEST_P(AgentsContract, AnUnreadableDashboardKeyIsNotReplaced) {
  a_.set("agent_envelope_signing_key", "rubbish");
  EXPECT_EQ(code_of(enrol(a_.add("dc1").code)), Code::conflict);
}

TEST_P(AgentsContract, SwitchedOffThereIsNothing) {
  auto agent = a_.enrolled("dc1");
  a_.set("remote_agents_enabled", "false");
  EXPECT_EQ(a_.agents.create(a_.root, {{"name", "dc2"}}, "").error().code, Code::conflict);
  EXPECT_EQ(a_.send(agent).error().code, Code::not_found);
  EXPECT_EQ(a_.enrolment.admit("198.51.100.7").error().code, Code::not_found);
}

TEST_P(AgentsContract, IsForAdminsAlone) {
  Principal nora{"nora", false, {}, {}, Via::session, "", ""};
  a_.add("dc1");
  EXPECT_EQ(a_.agents.create(nora, {{"name", "dc2"}}, "").error().code, Code::forbidden);
  EXPECT_EQ(a_.agents.list(nora).error().code, Code::forbidden);
  EXPECT_EQ(a_.agents.get(nora, "dc1").error().code, Code::forbidden);
  EXPECT_EQ(a_.agents.change(nora, "dc1", {}).error().code, Code::forbidden);
  EXPECT_EQ(a_.agents.revoke(nora, "dc1").error().code, Code::forbidden);
  EXPECT_EQ(a_.agents.remove(nora, "dc1").error().code, Code::forbidden);
  EXPECT_EQ(a_.agents.reissue_code(nora, "dc1", "").error().code, Code::forbidden);
  EXPECT_EQ(a_.agents.audience(nora).error().code, Code::forbidden);
  EXPECT_EQ(a_.agents.reset_audience(nora).error().code, Code::forbidden);
}

TEST_P(AgentsContract, RefusesNamesAndTypesThatAreNone) {
  a_.add("dc1");
  for (auto name : {"", "-x", "a b", "a/b", "\xc3\xa4"})
    EXPECT_EQ(a_.agents.create(a_.root, {{"name", name}}, "").error().code, Code::invalid) << name;
  EXPECT_EQ(a_.agents.create(a_.root, {{"name", "dc1"}}, "").error().code, Code::conflict);
  Json wrong{{"name", "dc2"}, {"allowed_job_types", {"everything"}}};
  EXPECT_EQ(a_.agents.create(a_.root, wrong, "").error().code, Code::invalid);
  EXPECT_EQ(a_.agents.create(a_.root, {{"name", 5}}, "").error().code, Code::validation);
}

TEST_P(AgentsContract, AnEmptyListGrantsNothing) {
  auto agent = a_.enrolled("dc1", {});
  auto refused = a_.jobs.submit({agent.id, "agent_storage", Json::object(), Json::object(), "alice"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("not granted"), std::string::npos);
  EXPECT_EQ(a_.count("agent_jobs"), 0);
}

TEST_P(AgentsContract, ARevokedAgentIsRemovedAndItsNameIsFree) {
  auto agent = a_.enrolled("dc1");
  auto running = a_.submit(agent.id);
  lease(agent);
  auto queued = a_.submit(agent.id);
  EXPECT_EQ(a_.agents.remove(a_.root, "dc1").error().code, Code::conflict);
  EXPECT_EQ(must(a_.agents.revoke(a_.root, "dc1")).jobs_cleared, 2);
  EXPECT_EQ(must(a_.jobs.find(running)).state, AgentJobState::failed);
  EXPECT_EQ(must(a_.jobs.find(queued)).state, AgentJobState::cancelled);
  EXPECT_EQ(a_.send(agent).error().code, Code::unauthenticated);
  EXPECT_EQ(a_.agents.reissue_code(a_.root, "dc1", "").error().code, Code::conflict);
  must(a_.agents.remove(a_.root, "dc1"));
  EXPECT_EQ(a_.count("agent_jobs"), 0);
  a_.add("dc1");
}

TEST_P(AgentsContract, ANewCodeReplacesTheKeyWhenItIsUsed) {
  auto agent = a_.enrolled("dc1");
  auto issued = must(a_.agents.reissue_code(a_.root, "dc1", ""));
  EXPECT_TRUE(a_.send(agent));
  must(enrol(issued.code));
  EXPECT_EQ(a_.send(agent).error().code, Code::unauthenticated);
}

// Requests.

TEST_P(AgentsContract, ANonceCountsOnce) {
  auto agent = a_.enrolled("dc1");
  auto head = agent.signed_head("/api/agent/lease", "{}", a_.clock.now());
  auto admitted = must(a_.requests.admit(head));
  EXPECT_TRUE(a_.requests.accept(head, admitted, "{}"));
  EXPECT_EQ(a_.requests.accept(head, admitted, "{}").error().code, Code::unauthenticated);
}

TEST_P(AgentsContract, RefusesWhatWasSignedForAnotherBodyPathTimeOrAudience) {
  auto agent = a_.enrolled("dc1");
  auto now = a_.clock.now();
  auto head = agent.signed_head("/api/agent/lease", "{}", now);
  auto admitted = must(a_.requests.admit(head));
  EXPECT_EQ(a_.requests.accept(head, admitted, "{ }").error().code, Code::unauthenticated);
  auto elsewhere = head;
  elsewhere.path = "/api/agent/jobs/1/complete";
  EXPECT_EQ(a_.requests.accept(elsewhere, admitted, "{}").error().code, Code::unauthenticated);
  auto other = agent;
  other.audience = "https://other.example";
  EXPECT_EQ(a_.send(other).error().code, Code::unauthenticated);
  for (auto off : {-61s, 61s}) {
    auto stale = agent.signed_head("/api/agent/lease", "{}", now + off);
    EXPECT_EQ(a_.requests.admit(stale).error().code, Code::unauthenticated);
  }
  for (auto off : {-60s, 60s})
    EXPECT_TRUE(a_.requests.admit(agent.signed_head("/api/agent/lease", "{}", now + off)));
  EXPECT_EQ(a_.count("agent_nonces"), 0);
}

TEST_P(AgentsContract, DecidesByTheHeaderSectionAlone) {
  auto agent = a_.enrolled("dc1");
  auto head = agent.signed_head("/api/agent/lease", "{}", a_.clock.now());
  for (auto change : std::vector<std::function<void(SignedHead&)>>{
           [](SignedHead& h) { h.agent_id = "somebody"; }, [](SignedHead& h) { h.nonce = ""; },
           [](SignedHead& h) { h.nonce = std::string(65, 'n'); }, [](SignedHead& h) { h.nonce = "a\tb"; },
           [](SignedHead& h) { h.timestamp = "now"; }, [](SignedHead& h) { h.signature = ""; }}) {
    auto bad = head;
    change(bad);
    EXPECT_EQ(a_.requests.admit(bad).error().code, Code::unauthenticated);
  }
}

TEST_P(AgentsContract, TheThrottleCountsWhatWasSignedAndStoresNoNonceBeyondIt) {
  a_.set("agent_max_requests_per_minute", "3");
  auto agent = a_.enrolled("dc1");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(a_.send(agent));
  auto seen = a_.row("dc1").last_seen_at;
  a_.clock.advance(10s);
  auto refused = a_.send(agent);
  EXPECT_EQ(refused.error().code, Code::throttled);
  EXPECT_EQ(refused.error().retry_after, 50s);
  EXPECT_EQ(a_.count("agent_nonces"), 3);
  EXPECT_EQ(a_.row("dc1").last_seen_at, seen);
  a_.clock.advance(51s);
  EXPECT_TRUE(a_.send(agent));
  a_.set("agent_throttle_enabled", "false");
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(a_.send(agent));
}

TEST_P(AgentsContract, BadRequestsAreCountedByAddressAndLockNoAgentThatIsKnownThere) {
  a_.set("agent_max_requests_per_minute", "3");
  auto agent = a_.enrolled("dc1"), stranger = a_.enrolled("dc2");
  stranger.audience = "https://other.example";
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(a_.send(stranger, "203.0.113.5").error().code, Code::unauthenticated) << i;
  EXPECT_EQ(a_.send(stranger, "203.0.113.5").error().code, Code::throttled);
  EXPECT_EQ(a_.send(agent, "203.0.113.5").error().code, Code::throttled);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(a_.send(stranger));  // from the address of dc1
  EXPECT_TRUE(a_.send(agent));
  EXPECT_LE(a_.count("attempts WHERE kind = 'agent.signature'"), 6);
}

TEST_P(AgentsContract, TwoAddressesWithinAMinuteAreAWarning) {
  auto agent = a_.enrolled("dc1");
  EXPECT_TRUE(a_.send(agent));
  EXPECT_TRUE(to_json(a_.row("dc1"), a_.clock.now())["warning"].is_null());
  a_.clock.advance(61s);
  EXPECT_TRUE(a_.send(agent, "203.0.113.5"));  // it moved
  EXPECT_TRUE(to_json(a_.row("dc1"), a_.clock.now())["warning"].is_null());
  a_.clock.advance(30s);
  EXPECT_TRUE(a_.send(agent));
  auto warning = to_json(a_.row("dc1"), a_.clock.now())["warning"].get<std::string>();
  EXPECT_NE(warning.find("203.0.113.5 and 198.51.100.7"), std::string::npos) << warning;
}

// The queue.

TEST_P(AgentsContract, LeasesTheOldestJobOnceSignedAsItStands) {
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
TEST_P(AgentsContract, TwoReplicasLeaseEachJobOnce) {
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

TEST_P(AgentsContract, HandsOutNothingThatExpiredOrIsNoLongerGranted) {
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

TEST_P(AgentsContract, RefusesByNameBeforeAJobExists) {
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

TEST_P(AgentsContract, TheFirstCompletionStands) {
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

TEST_P(AgentsContract, AJobOfAnotherAgentIsAsIfItWereNot) {
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

TEST_P(AgentsContract, ACancelledJobStaysCancelled) {
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

TEST_P(AgentsContract, AResultThatIsTooLargeFailsTheJob) {
  auto agent = a_.enrolled("dc1");
  auto id = a_.submit(agent.id);
  lease(agent);
  auto large = completed({{"content_b64", std::string(kMaxResultBytes, 'x')}});
  EXPECT_EQ(must(a_.jobs.complete(a_.row(agent.id), id, large)), AgentJobState::failed);
  EXPECT_NE(must(a_.jobs.find(id)).error.find("262144"), std::string::npos);
}

TEST_P(AgentsContract, KeepsAtMost20000LinesOfAJob) {
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

TEST_P(AgentsContract, KeepsALineThatIsSentAgainOnce) {
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

// Content.

TEST_P(AgentsContract, ContentIsSealedAndGoesWithTheAnswer) {
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

TEST_P(AgentsContract, TheSweepDropsWhatADeadProcessLeft) {
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

TEST_P(AgentsContract, TheHistoryOfJobsIsBounded) {
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

// Waiting for a job.

TEST_P(AgentsContract, RunReturnsTheResultAndTellsTheObserver) {
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

TEST_P(AgentsContract, RunReturnsTheAgentsOwnText) {
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

TEST_P(AgentsContract, AJobThatNobodyFetchesIsCancelledAndALateAnswerIsNotKept) {
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

TEST_P(AgentsContract, AStoppedRunCancelsItsJobAndHearsItsLastLines) {
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

TEST_P(AgentsContract, AWaitingLeaseWakesForAJobOfAnyProcessAndForItsRevocation) {
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

TEST_P(AgentsContract, NoMoreThan2000LeasesWait) {
  std::vector<std::unique_ptr<WaitingLeases::Lease>> leases;
  for (std::size_t i = 0; i < kMaxWaitingLeases; ++i) {
    leases.push_back(WaitingLeases::enter(a_.jobs.waiting_leases(), fmt::format("agent{}", i)));
    ASSERT_TRUE(leases.back());
  }
  EXPECT_FALSE(WaitingLeases::enter(a_.jobs.waiting_leases(), "one more"));
  leases.pop_back();
  EXPECT_TRUE(WaitingLeases::enter(a_.jobs.waiting_leases(), "one more"));
}

// The share's password.

class ShareSecret : public AgentsContract {
 protected:
  ShareSecret() {
    a_.secrets.add(kStorageJobType, share_secret_source(a_.deps));
    a_.set("storage_agent_id", agent_.id);
    a_.set("storage_agent_share", "docs");
    a_.set("storage_agent_password", "hunter2");
  }
  std::string running(const std::string& share = "docs") {
    auto id = a_.submit(agent_.id, share);
    lease(agent_);
    return id;
  }
  Result<OrderedJson> ask(const std::string& id, const std::string& ref = "docs") {
    return a_.secrets.release(a_.row(agent_.id), id, {ref, crypto::to_base64(reply_.public_key)});
  }
  Code refusal(const std::string& id, const std::string& ref = "docs") {
    auto answer = ask(id, ref);
    return answer ? Code::differences : answer.error().code;
  }
  EnrolledAgent agent_ = a_.enrolled("dc1");
  crypto::X25519Key reply_ = crypto::new_x25519_key();
};

TEST_P(ShareSecret, IsSealedToTheReplyKeyAndReleasedOnceAJob) {
  auto id = running();
  auto sealed = must(ask(id))["sealed"];
  SealBinding binding{agent_.id, agent_.audience, id, "docs"};
  EXPECT_EQ(must(open_reply(Json(sealed), reply_, binding)).expose(), "hunter2");
  EXPECT_EQ(refusal(id), Code::conflict);
  auto trail = a_.audited();
  EXPECT_EQ(std::ranges::count(trail, "agent:dc1 agent.share_secret"), 2);
  EXPECT_EQ(a_.count("audit_log WHERE details LIKE '%hunter2%'"), 0);
  EXPECT_EQ(a_.count("audit_log WHERE details LIKE '%released before%'"), 1);
  EXPECT_NE(refusal(running()), Code::conflict);
}

TEST_P(ShareSecret, IsReleasedOnlyWhileItsJobRuns) {
  auto queued = a_.submit(agent_.id);
  EXPECT_EQ(refusal(queued), Code::conflict);
  lease(agent_);
  must(a_.jobs.cancel(queued));
  EXPECT_EQ(refusal(queued), Code::conflict);
  auto other = a_.enrolled("dc2");
  auto id = running();
  EXPECT_EQ(
      a_.secrets.release(a_.row(other.id), id, {"docs", crypto::to_base64(reply_.public_key)}).error().code,
      Code::conflict);
  must(a_.jobs.complete(a_.row(agent_.id), id, completed()));
  EXPECT_EQ(refusal(id), Code::conflict);
}

TEST_P(ShareSecret, IsForTheConfiguredShareAndAgentAlone) {
  EXPECT_EQ(refusal(running("other"), "other"), Code::conflict);
  auto id = running();
  EXPECT_EQ(refusal(id, "other"), Code::conflict);
  a_.set("storage_agent_id", "somebody");
  EXPECT_EQ(refusal(id), Code::conflict);
  a_.set("storage_agent_id", agent_.id);
  a_.set("storage_agent_password", "");
  EXPECT_EQ(refusal(id), Code::conflict);
  a_.set("storage_agent_password", "hunter2");
  EXPECT_TRUE(ask(id));  // no refusal spent it
}

TEST_P(ShareSecret, IsNeverReleasedToAnAgentThatIsNotAttestedWhereThatIsDemanded) {
  a_.set("dashboard_secrets_require_attested", "true");
  EXPECT_EQ(refusal(running()), Code::forbidden);
}

TEST_P(ShareSecret, ABadReplyKeyIsRefusedBeforeThePasswordIsRead) {
  auto id = running();
  a_.set("storage_agent_password", "");
  auto row = a_.row(agent_.id);
  for (auto key : {std::string("short"), crypto::to_base64(std::string(31, 'x'))})
    EXPECT_EQ(a_.secrets.release(row, id, {"docs", key}).error().code, Code::invalid);
  a_.set("storage_agent_password", "hunter2");
  EXPECT_EQ(a_.secrets.release(row, id, {"docs", crypto::to_base64(std::string(32, '\0'))}).error().code,
            Code::invalid);
}

// The audit log.

TEST_P(AgentsContract, WritesEveryActionOfAnAgentsLife) {
  auto agent = a_.enrolled("dc1");
  auto id = a_.submit(agent.id);
  lease(agent);
  must(a_.jobs.complete(a_.row(agent.id), id, completed()));
  must(a_.agents.change(a_.root, "dc1", {"berlin", {}, {}}));
  must(a_.agents.reissue_code(a_.root, "dc1", ""));
  must(a_.agents.revoke(a_.root, "dc1"));
  must(a_.agents.remove(a_.root, "dc1"));
  must(a_.agents.reset_audience(a_.root));
  EXPECT_EQ(a_.audited(), (std::vector<std::string>{
                              "root agent.create", "agent:dc1 agent.enroll", "agent:dc1 agent.lease",
                              "agent:dc1 agent.complete", "root agent.update", "root agent.reissue_code",
                              "root agent.revoke", "root agent.remove", "root agent.audience_reset"}));
}

auto engine_name(const testing::TestParamInfo<std::string_view>& engine) { return std::string(engine.param); }
INSTANTIATE_TEST_SUITE_P(Engines, AgentsContract, testing::Values("sqlite", "postgres"), engine_name);
INSTANTIATE_TEST_SUITE_P(Engines, ShareSecret, testing::Values("sqlite", "postgres"), engine_name);

}  // namespace
}  // namespace dash::agent
