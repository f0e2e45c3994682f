// Secrets that the dashboard holds and releases to an agent: sealed to the reply key of one job, once a job and
// reference, while the job runs. Thread-safe after the sources were added.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "core/agent/dashboard/agent_jobs.hpp"
#include "core/agent/protocol/documents.hpp"
#include "core/base/secret.hpp"

namespace dash::agent {

// Where the secrets for jobs of one type come from. Both functions run in the releasing transaction.
struct SecretSource {
  std::string audit_action;  // agent.share_secret
  std::string ref_name;      // what the reference is called in the audit log: share, host
  // Checks that this job at this agent may ask for `ref`. Code::conflict.
  std::function<Result<void>(db::Transaction& tx, const Agent& agent, const AgentJob& job,
                             const std::string& ref)>
      check;
  // Reads the secret. Code::conflict where there is none.
  std::function<Result<Secret>(db::Transaction& tx, const AgentJob& job, const std::string& ref)> read;
};

class JobSecrets {
 public:
  explicit JobSecrets(Deps deps) : deps_(deps) {}
  void add(std::string_view job_type, SecretSource source) {
    sources_.insert_or_assign(std::string(job_type), std::move(source));
  }

  // Returns {"sealed": {…}}. In this order: the job runs at this agent (Code::conflict); secrets go to attested
  // agents alone, and none is (Code::forbidden); the source's check; the reply key (Code::invalid); released before
  // (Code::conflict, audited); there is a secret (Code::conflict).
  Result<OrderedJson> release(const Agent& agent, const std::string& job_id, const SecretRequest& request);

 private:
  Result<OrderedJson> release_in(db::Transaction& tx, const Agent& agent, const AgentJob& job,
                                 const SecretRequest& request);
  const SecretSource* source_of(const AgentJob& job) const;

  Deps deps_;
  std::map<std::string, SecretSource> sources_;
};

// The password of the agent's share: the settings storage_agent_id, _share and _password.
SecretSource share_secret_source(Deps deps);

}  // namespace dash::agent
