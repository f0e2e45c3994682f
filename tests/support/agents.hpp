// The agents of a dashboard over a scratch database with fake time, and one agent's key.
#pragma once
#include <gtest/gtest.h>

#include "core/agent/dashboard/agent_jobs.hpp"
#include "core/agent/dashboard/agent_requests.hpp"
#include "core/agent/dashboard/agents.hpp"
#include "core/agent/dashboard/enrolment.hpp"
#include "core/agent/dashboard/job_secrets.hpp"
#include "core/agent/dashboard/job_types.hpp"
#include "core/agent/protocol/request_signature.hpp"
#include "core/crypto/hash.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash {

// What an agent has once it is enrolled.
struct EnrolledAgent {
  std::string id, audience;
  crypto::Ed25519Key key;
  int next_nonce = 0;

  // A request as an agent sends it.
  agent::SignedHead signed_head(const std::string& path, std::string_view body, Time now,
                                const std::string& address = "198.51.100.7") {
    agent::SignedHead head{
        "POST", path,   id, std::to_string(to_micros(now) / 1'000'000), fmt::format("nonce{}", next_nonce++),
        "",     address};
    head.signature = agent::sign_request(key, {audience, id, "POST", path, head.nonce, head.timestamp}, body);
    return head;
  }
};

struct AgentsUnderTest {
  explicit AgentsUnderTest(std::unique_ptr<db::Sql> database) : sql(std::move(database)) {
    set("remote_agents_enabled", "true");
  }

  void set(const std::string& key, const std::string& value) {
    must(config.apply({{key, value}}, {"test", "test"}));
  }
  agent::IssuedCode add(const std::string& name, std::vector<std::string> types = {"agent_storage"}) {
    return must(agents.create(root, {{"name", name}, {"allowed_job_types", types}}, "https://dash.example"));
  }
  static agent::EnrolRequest enrol_request(const Secret& code, const crypto::Ed25519Key& key) {
    return {code, crypto::to_base64(key.public_key), "2.7.0", "hash"};
  }
  EnrolledAgent enrolled(const std::string& name, std::vector<std::string> types = {"agent_storage"}) {
    EnrolledAgent out;
    out.key = crypto::ed25519_from_seed(Secret(crypto::random_bytes(32)));
    auto code = add(name, std::move(types)).code;
    auto reply = must(enrolment.enrol(enrol_request(code, out.key), "198.51.100.7", ""));
    out.id = reply.agent_id, out.audience = reply.audience;
    return out;
  }
  agent::Agent row(const std::string& id_or_name) { return must(agents.get(root, id_or_name)); }
  Result<agent::Agent> send(EnrolledAgent& from, const std::string& address = "198.51.100.7") {
    auto head = from.signed_head("/api/agent/lease", "{}", clock.now(), address);
    auto admitted = TRY(requests.admit(head));
    return requests.accept(head, admitted, "{}");
  }
  std::string submit(const std::string& agent_id, std::string share = "docs") {
    agent::AgentJobRequest request{agent_id,
                                   "agent_storage",
                                   {{"op", "list"}, {"content_b64", "c2VjcmV0"}},
                                   {{"op", "list"}, {"share", std::move(share)}},
                                   "alice"};
    return must(jobs.submit(request));
  }
  std::int64_t count(const std::string& what) {
    return must(db::read<std::int64_t>(*sql, [&](db::Transaction& tx) -> Result<std::int64_t> {
      return TRY(tx.query("SELECT COUNT(*) FROM " + what))[0].integer(0);
    }));
  }
  std::vector<std::string> audited() {
    std::vector<std::string> out;
    must(sql->read([&](db::Transaction& tx) {
      return tx.each("SELECT username, action FROM audit_log ORDER BY seq", {},
                     [&](const db::Row& row) -> Result<void> {
                       out.push_back(row.text(0) + " " + row.text(1));
                       return {};
                     });
    }));
    return out;
  }

  FakeClock clock;
  std::unique_ptr<db::Sql> sql;
  config::EncryptedStore config{*sql, clock, Secret(std::string(32, 's'))};
  config::Settings settings{config};
  audit::Log audit{*sql, clock, Secret(std::string(32, 'k'))};
  agent::Deps deps{*sql, clock, config, settings, audit};
  agent::AgentJobs jobs{deps};
  agent::Agents agents{deps, jobs.waiting_leases()};
  agent::AgentRequests requests{deps};
  agent::Enrolment enrolment{deps};
  agent::JobSecrets secrets{deps};
  Principal root{"root", true, {}, {}, Via::session, "192.0.2.1", "r1"};
};

}  // namespace dash
