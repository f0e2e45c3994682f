// Agents and their codes: who may issue, change and revoke them, and what the audit log says of it.
#include "tests/contract/agents_suite.hpp"

namespace dash::agent {
namespace {

using namespace std::chrono_literals;

class AgentIdentities : public AgentsContract {};

TEST_P(AgentIdentities, ACodeWorksOnceAndFor15Minutes) {
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

TEST_P(AgentIdentities, ABadKeySpendsNoCode) {
  auto issued = a_.add("dc1");
  EnrolRequest request{issued.code, "c2hvcnQ=", "2.7.0", ""};
  EXPECT_EQ(code_of(a_.enrolment.enrol(request, "198.51.100.7", "")), Code::invalid);
  EXPECT_TRUE(enrol(issued.code));
}

TEST_P(AgentIdentities, TheEleventhBadCodeOfAnAddressIsThrottledWhateverTheCode) {
  auto issued = a_.add("dc1");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(code_of(enrol(Secret("agte_wrong"))), Code::invalid) << i;
  auto refused = enrol(issued.code);
  EXPECT_EQ(code_of(refused), Code::throttled);
  EXPECT_EQ(refused.error().retry_after, 900s);
  EXPECT_EQ(a_.enrolment.admit("198.51.100.7").error().code, Code::throttled);
  EXPECT_TRUE(enrol(issued.code, "203.0.113.9"));
}

TEST_P(AgentIdentities, TheDashboardsKeyAndAudienceStayUntilTheyAreReset) {
  auto first = must(enrol(a_.add("dc1").code));
  a_.set("public_base_url", "https://elsewhere.example/");
  auto second = must(enrol(a_.add("dc2").code));
  EXPECT_EQ(first.dashboard_public_key, second.dashboard_public_key);
  EXPECT_EQ(second.audience, "https://dash.example");
  EXPECT_EQ(must(a_.agents.reset_audience(a_.root)).origin, "https://elsewhere.example");
  EXPECT_EQ(must(enrol(a_.add("dc3").code)).audience, "https://elsewhere.example");
}

TEST_P(AgentIdentities, AnUnreadableDashboardKeyIsNotReplaced) {
  a_.set("agent_envelope_signing_key", "rubbish");
  EXPECT_EQ(code_of(enrol(a_.add("dc1").code)), Code::conflict);
}

TEST_P(AgentIdentities, SwitchedOffThereIsNothing) {
  auto agent = a_.enrolled("dc1");
  a_.set("remote_agents_enabled", "false");
  EXPECT_EQ(a_.agents.create(a_.root, {{"name", "dc2"}}, "").error().code, Code::conflict);
  EXPECT_EQ(a_.send(agent).error().code, Code::not_found);
  EXPECT_EQ(a_.enrolment.admit("198.51.100.7").error().code, Code::not_found);
}

TEST_P(AgentIdentities, IsForAdminsAlone) {
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

TEST_P(AgentIdentities, RefusesNamesAndTypesThatAreNone) {
  a_.add("dc1");
  for (auto name : {"", "-x", "a b", "a/b", "\xc3\xa4"})
    EXPECT_EQ(a_.agents.create(a_.root, {{"name", name}}, "").error().code, Code::invalid) << name;
  EXPECT_EQ(a_.agents.create(a_.root, {{"name", "dc1"}}, "").error().code, Code::conflict);
  Json wrong{{"name", "dc2"}, {"allowed_job_types", {"everything"}}};
  EXPECT_EQ(a_.agents.create(a_.root, wrong, "").error().code, Code::invalid);
  EXPECT_EQ(a_.agents.create(a_.root, {{"name", 5}}, "").error().code, Code::validation);
}

TEST_P(AgentIdentities, AnEmptyListGrantsNothing) {
  auto agent = a_.enrolled("dc1", {});
  auto refused = a_.jobs.submit({agent.id, "agent_storage", Json::object(), Json::object(), "alice"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("not granted"), std::string::npos);
  EXPECT_EQ(a_.count("agent_jobs"), 0);
}

TEST_P(AgentIdentities, ARevokedAgentIsRemovedAndItsNameIsFree) {
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

TEST_P(AgentIdentities, ANewCodeReplacesTheKeyWhenItIsUsed) {
  auto agent = a_.enrolled("dc1");
  auto issued = must(a_.agents.reissue_code(a_.root, "dc1", ""));
  EXPECT_TRUE(a_.send(agent));
  must(enrol(issued.code));
  EXPECT_EQ(a_.send(agent).error().code, Code::unauthenticated);
}

TEST_P(AgentIdentities, WritesEveryActionOfAnAgentsLife) {
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

INSTANTIATE_TEST_SUITE_P(Engines, AgentIdentities, each_database(), engine_name);

}  // namespace
}  // namespace dash::agent
