// One instance, over its API or its data folder: a client for each resource. Both implementations return the
// same documents. Their arguments must outlive them.
#pragma once
#include "core/client/agent_client.hpp"
#include "core/client/audit_client.hpp"
#include "core/client/automation_client.hpp"
#include "core/client/config_client.hpp"
#include "core/client/host_client.hpp"
#include "core/client/image_client.hpp"
#include "core/client/job_client.hpp"
#include "core/client/policy_client.hpp"
#include "core/client/storage_client.hpp"
#include "core/client/token_client.hpp"
#include "core/client/user_client.hpp"
#include "core/client/vault_client.hpp"

namespace dash::client {

struct InstanceClient {
  std::unique_ptr<UserClient> users;
  std::unique_ptr<TokenClient> tokens;
  std::unique_ptr<VaultClient> vaults;
  std::unique_ptr<HostClient> hosts;
  std::unique_ptr<AgentClient> agents;
  std::unique_ptr<ConfigClient> config;
  std::unique_ptr<JobClient> jobs;
  std::unique_ptr<AuditClient> audit;
  std::unique_ptr<PolicyClient> policy;
  std::unique_ptr<StorageClient> storage;
  std::unique_ptr<ImageClient> images;
  std::unique_ptr<AutomationClient> automation;
};

// `api` is signed in.
InstanceClient open_http_instance_client(net::ApiClient& api);

}  // namespace dash::client
