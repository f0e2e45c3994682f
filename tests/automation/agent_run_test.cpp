#include "core/automation/agent_run.hpp"

#include <gtest/gtest.h>

#include "core/agent/dashboard/job_secrets.hpp"
#include "core/agent/protocol/automation_job.hpp"
#include "core/automation/agent_release.hpp"
#include "core/automation/host.hpp"
#include "core/jobs/group_run.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/run_now.hpp"
#include "core/jobs/worker.hpp"
#include "tests/support/agent_world.hpp"
#include "tests/support/storage_instance.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::automation {
namespace {

constexpr auto kReplyKey = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=";  // of RFC 7748 §6.1

struct AgentRunTest : testing::Test {
  AgentRunTest() {
    world.set("remote_agents_enabled", "true");
    here.runners.add(std::string(jobs::kAutomationRun),
                     {[this](const jobs::Job& job, const Json& parameters, jobs::RunControl& control) {
                       return carry_out(job, parameters, control);
                     }});
    secrets.add(agent::kAutomationJobType, run_secret_source(world.config));
    put("site.yml", "- hosts: all\n");
  }

  Result<jobs::RunResult> carry_out(const jobs::Job& job, const Json& parameters, jobs::RunControl& control) {
    auto group = TRY(jobs::GroupRun::open(here.job_deps, job));
    auto result = run_by_agent({agents, here.storage.stores(), here.buffers, here.settings, here.job_deps},
                               "edge", {job, parameters, control, *group});
    if (!result) return jobs::RunResult{jobs::RunStatus::failed, result.error().message, "automation"};
    return result;
  }
  void put(const std::string& name, const std::string& bytes) {
    etag = must(world.store().put("config-mgmt/" + name, bytes, {})).etag;
  }
  static Json host(const std::string& name, const std::string& secret) {
    Host out;
    out.name = out.written_address = name;
    out.port = 22, out.user = "ops", out.host_key = "ssh-ed25519 AAAA", out.secret = Secret(secret);
    return to_parameters(out);
  }
  // Queues a run, as one of a group when that has a name. Returns its id.
  std::string queue(std::vector<Json> hosts, const std::string& group = "",
                    Json secret_vars = Json::object()) {
    jobs::Job job;
    job.action = jobs::kAutomationRun, job.name = "site.yml";
    job.request = {{"asset", "site.yml"}, {"backend", "obj_cloud1"}, {"asset_etag", etag},
                   {"type", "playbook"},  {"runner", "agent:edge"},  {"check", true}};
    Json parameters{{"hosts", hosts}, {"extra_vars", {{"a", 1}}}, {"secret_vars", std::move(secret_vars)}};
    auto in_group = [&](db::Transaction& tx, const jobs::Job& made) -> Result<void> {
      return group.empty() ? Result<void>() : jobs::set_run_group(tx, made.id, group);
    };
    return must(jobs::enqueue(here.job_deps, world.admin, job, parameters, in_group)).id;
  }
  jobs::Job work(const std::string& id) {
    std::atomic<bool> stop = false;
    EXPECT_TRUE(must(jobs::Worker(here.job_deps, executors, "w1").work(stop)));
    return show(id);
  }
  jobs::Job show(const std::string& id) {
    return must(db::read<jobs::Job>(*world.sql, [&](db::Transaction& tx) { return jobs::get_job(tx, id); }));
  }
  static agent::Completion done(std::vector<agent::AutomationHostResult> hosts, int exit_status = 0) {
    agent::AutomationResult result;
    result.hosts = std::move(hosts);
    result.exit_status = exit_status;
    result.reason = "exited";
    return agent::completed(agent::to_json(result));
  }
  Code release(const agent::Agent& by, const std::string& job, const std::string& ref) {
    auto released = secrets.release(by, job, {ref, kReplyKey});
    return released ? Code::interrupted : released.error().code;  // interrupted: no error
  }

  storage::StorageFixture world;
  storage::Replica here{world};
  agent::Deps deps{*world.sql, world.clock, world.config, here.settings, here.audit};
  agent::AgentJobs agents{deps};
  agent::JobSecrets secrets{deps};
  jobs::Executors executors{world.scratch.path(), ""};
  std::string etag;
  agent::Agent edge = agent::insert_online_agent(*world.sql, world.clock, "edge", {"agent_automation"});
};

TEST_F(AgentRunTest, SendsTheRunWithoutItsAssetAndSecrets) {
  auto id =
      queue({host("a.example", "hunter2hunter2"), host("b.example", "")}, "", {{"token", "s3cret-value"}});
  Json sent;
  agent::ScriptedAgent carrier(agents, edge, [&](const Json& job) {
    sent = job;
    return done({{"a.example", "changed"}, {"b.example", "ok"}});
  });
  auto job = work(id);
  EXPECT_EQ(job.state, jobs::State::completed) << job.error.value_or("");
  auto payload = must(agent::read_automation_job(sent.at("payload")));
  EXPECT_EQ(payload.asset, "site.yml");
  EXPECT_EQ(payload.asset_bytes, 13u);
  EXPECT_TRUE(payload.asset_digest.starts_with("p8:"));
  EXPECT_TRUE(payload.is_check);
  EXPECT_TRUE(payload.has_secret_vars);
  ASSERT_EQ(payload.hosts.size(), 2u);
  EXPECT_TRUE(payload.hosts[0].has_secret);
  EXPECT_FALSE(payload.hosts[1].has_secret);
  auto text = dump_json(sent);
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  EXPECT_EQ(text.find("s3cret"), std::string::npos);
  EXPECT_EQ(text.find("hosts: all"), std::string::npos);
  EXPECT_EQ(job.details.at("hosts").at(0).at("outcome"), "changed");
  EXPECT_EQ(job.exit_status, 0);
}

TEST_F(AgentRunTest, FailsWithTheHostsThatFailed) {
  auto id = queue({host("a.example", ""), host("b.example", "")});
  agent::ScriptedAgent carrier(agents, edge, [&](const Json&) {
    return done({{"a.example", "ok"}, {"b.example", "unreachable", "no route"}}, 4);
  });
  auto job = work(id);
  EXPECT_EQ(job.state, jobs::State::failed);
  EXPECT_NE(job.error.value_or("").find("b.example: unreachable: no route"), std::string::npos);
  EXPECT_EQ(job.exit_status, 4);
}

TEST_F(AgentRunTest, EndsEachJobOfABatchByItsOwnHost) {
  auto first = queue({host("a.example", "")}, "g"), second = queue({host("b.example", "")}, "g");
  agent::ScriptedAgent carrier(agents, edge, [&](const Json&) {
    return done({{"a.example", "ok"}, {"b.example", "failed", "broken"}}, 2);
  });
  EXPECT_EQ(work(first).state, jobs::State::completed);
  EXPECT_EQ(show(second).state, jobs::State::failed);
}

TEST_F(AgentRunTest, MasksSecretsInWhatTheAgentSays) {
  auto id = queue({host("a.example", "hunter2hunter2")});
  agent::ScriptedAgent carrier(agents, edge, [&](const Json& job) {
    must(agents.add_logs(edge, job.at("job_id"), {{"the password is hunter2hunter2"}}));
    return done({{"a.example", "failed", "said hunter2hunter2"}}, 2);
  });
  auto job = work(id);
  EXPECT_EQ(dump_json(job.details).find("hunter2"), std::string::npos);
  EXPECT_EQ(job.error.value_or("").find("hunter2"), std::string::npos);
  auto lines = must(db::read<db::Rows>(*world.sql, [&](db::Transaction& tx) {
    return tx.query("SELECT line FROM job_logs WHERE job_id = $1", {id});
  }));
  bool is_told = false;
  for (const auto& row : lines) {
    EXPECT_EQ(row.text(0).find("hunter2"), std::string::npos);
    is_told = is_told || row.text(0).starts_with("the password is");
  }
  EXPECT_TRUE(is_told);
}

TEST_F(AgentRunTest, FailsWithTheAgentsOwnWords) {
  auto id = queue({host("a.example", "")});
  agent::ScriptedAgent carrier(agents, edge, [](const Json&) {
    return agent::failed("Agent policy refused: a.example is no target");
  });
  auto job = work(id);
  EXPECT_EQ(job.state, jobs::State::failed);
  EXPECT_NE(job.error.value_or("").find("a.example is no target"), std::string::npos);
}

TEST_F(AgentRunTest, RunsNoAssetThatWasChangedSince) {
  auto id = queue({host("a.example", "")});
  put("site.yml", "- hosts: others\n");
  EXPECT_EQ(work(id).reason, "asset_changed");
}

TEST_F(AgentRunTest, AsksTheAgentsGrantAgain) {
  auto id = queue({host("a.example", "")});
  world.set("remote_agents_enabled", "false");
  auto job = work(id);
  EXPECT_EQ(job.state, jobs::State::failed);
  EXPECT_NE(job.error.value_or("").find("remote_agents_enabled"), std::string::npos);
}

TEST_F(AgentRunTest, ReleasesEachSecretOnceWhileTheRunRuns) {
  auto id =
      queue({host("a.example", "hunter2hunter2"), host("b.example", "")}, "", {{"token", "s3cret-value"}});
  auto thief = agent::insert_online_agent(*world.sql, world.clock, "thief", {"agent_automation"});
  std::string agent_job;
  {
    agent::ScriptedAgent carrier(agents, edge, [&](const Json& job) {
      agent_job = job.at("job_id");
      EXPECT_EQ(release(thief, agent_job, "a.example"), Code::conflict);
      EXPECT_EQ(release(edge, agent_job, "b.example"), Code::conflict);  // has none
      EXPECT_EQ(release(edge, agent_job, "c.example"), Code::conflict);  // is none of the run's
      EXPECT_EQ(release(edge, agent_job, "a.example"), Code::interrupted);
      EXPECT_EQ(release(edge, agent_job, "a.example"), Code::conflict);
      EXPECT_EQ(release(edge, agent_job, std::string(agent::kSecretVariablesRef)), Code::interrupted);
      return done({{"a.example", "ok"}, {"b.example", "ok"}});
    });
    EXPECT_EQ(work(id).state, jobs::State::completed);
  }
  EXPECT_EQ(release(edge, agent_job, "a.example"), Code::conflict);
  EXPECT_EQ(world.audited("agent.host_secret").size(), 3u);  // a.example twice, the second time refused
}

TEST_F(AgentRunTest, ReleasesNoSecretToAnAgentThatIsNotAttestedWhenOnlyThoseMayHaveThem) {
  world.set("dashboard_secrets_require_attested", "true");
  auto id = queue({host("a.example", "hunter2hunter2")});
  agent::ScriptedAgent carrier(agents, edge, [&](const Json& job) {
    EXPECT_EQ(release(edge, job.at("job_id"), "a.example"), Code::forbidden);
    return agent::failed("no password");
  });
  work(id);
}

TEST_F(AgentRunTest, GivesTheVeryAssetOfTheRunToItsAgentAlone) {
  auto id = queue({host("a.example", "")});
  auto thief = agent::insert_online_agent(*world.sql, world.clock, "thief", {"agent_automation"});
  auto find = [&](const agent::Agent& by, const std::string& job) {
    return find_released_asset(agents, here.storage.stores(), by, job);
  };
  std::string agent_job;
  {
    agent::ScriptedAgent carrier(agents, edge, [&](const Json& job) {
      agent_job = job.at("job_id");
      EXPECT_EQ(find(thief, agent_job).error().code, Code::conflict);
      EXPECT_EQ(must(find(edge, agent_job)).object.size, 13u);
      put("site.yml", "- hosts: others\n");
      EXPECT_EQ(find(edge, agent_job).error().code, Code::conflict);
      return done({{"a.example", "ok"}});
    });
    work(id);
  }
  EXPECT_EQ(find(edge, agent_job).error().code, Code::conflict);
}

// The user cancels while the agent works.
TEST_F(AgentRunTest, CancelsTheAgentsJobWithTheRun) {
  auto id = queue({host("a.example", "")});
  std::atomic<bool> is_leased = false;
  agent::ScriptedAgent carrier(agents, edge, [&](const Json& job) {
    is_leased = true;
    EXPECT_TRUE(wait_until([&] { return must(agents.heartbeat(edge, job.at("job_id"), {})); }));
    return done({{"a.example", "ok"}}, 0);
  });
  std::jthread user([&] {
    EXPECT_TRUE(wait_until([&] { return is_leased.load(); }));
    must(here.jobs.cancel(world.admin, id));
  });
  EXPECT_EQ(work(id).state, jobs::State::cancelled);
}

}  // namespace
}  // namespace dash::automation
