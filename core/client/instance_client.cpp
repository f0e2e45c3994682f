#include "core/client/instance_client.hpp"

namespace dash::client {

InstanceClient open_http_instance_client(net::ApiClient& api) {
  return {.users = open_http_user_client(api),
          .tokens = open_http_token_client(api),
          .vaults = open_http_vault_client(api),
          .hosts = open_http_host_client(api),
          .agents = open_http_agent_client(api),
          .config = open_http_config_client(api),
          .jobs = open_http_job_client(api),
          .audit = open_http_audit_client(api),
          .policy = open_http_policy_client(api),
          .storage = open_http_storage_client(api),
          .images = open_http_image_client(api),
          .automation = open_http_automation_client(api)};
}

}  // namespace dash::client
