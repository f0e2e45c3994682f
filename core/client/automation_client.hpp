// Automation runs of an instance, over its API or its data folder. Documents are those of /api/config-mgmt.
#pragma once
#include <memory>
#include <string>

#include "core/automation/automation.hpp"
#include "core/net/http/api_client.hpp"

namespace dash::client {

class AutomationClient {
 public:
  virtual ~AutomationClient() = default;
  virtual Result<OrderedJson> run(const Json& body) = 0;       // {job_id, status}
  virtual Result<OrderedJson> run_bulk(const Json& body) = 0;  // {batch_id, …, jobs: [{job_id, target}]}
  virtual Result<OrderedJson> deploy_compose(const Json& body) = 0;  // {job_id, status}
  // {job_id, asset, generated, playbook}
  virtual Result<OrderedJson> playbook(const std::string& job_id) = 0;
};

std::unique_ptr<AutomationClient> open_http_automation_client(net::ApiClient& api);
std::unique_ptr<AutomationClient> open_local_automation_client(automation::Automation& automation,
                                                               Principal principal);

}  // namespace dash::client
