// The remote agents of an instance, over its API or its data folder. Documents are those of /api/agents. An agent is
// named by its id or its name.
#pragma once
#include <memory>
#include <string>

#include "core/agent/dashboard/agents.hpp"
#include "core/net/http/api_client.hpp"

namespace dash::client {

class AgentClient {
 public:
  virtual ~AgentClient() = default;
  virtual Result<OrderedJson> list() = 0;  // an array
  virtual Result<OrderedJson> get(const std::string& agent) = 0;
  // {name, site, description, allowed_job_types}; the document has the enrolment code.
  virtual Result<OrderedJson> add(const Json& agent) = 0;
  virtual Result<OrderedJson> change(const std::string& agent, const Json& members) = 0;
  virtual Result<OrderedJson> revoke(const std::string& agent) = 0;
  virtual Result<void> remove(const std::string& agent) = 0;
  virtual Result<OrderedJson> reissue_code(const std::string& agent) = 0;
};

std::unique_ptr<AgentClient> open_http_agent_client(net::ApiClient& api);
std::unique_ptr<AgentClient> open_local_agent_client(agent::Agents& agents, Principal principal);

}  // namespace dash::client
