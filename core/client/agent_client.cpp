#include "core/client/agent_client.hpp"

namespace dash::client {
namespace {

constexpr std::string_view kAgents = "/api/agents";

std::string agent_path(const std::string& agent) {
  return fmt::format("{}/{}", kAgents, net::percent_encode(agent));
}

class HttpAgentClient final : public AgentClient {
 public:
  explicit HttpAgentClient(net::ApiClient& api) : api_(api) {}

  Result<OrderedJson> list() override {
    return OrderedJson(TRY(with(TRY(api_.get(kAgents)), "agents"))["agents"]);
  }
  Result<OrderedJson> get(const std::string& agent) override {
    return with(TRY(api_.get(agent_path(agent))), "id");
  }
  Result<OrderedJson> add(const Json& agent) override {
    return with(TRY(api_.post(kAgents, agent)), "enrollment_code");
  }
  Result<OrderedJson> change(const std::string& agent, const Json& members) override {
    return with(TRY(api_.patch(agent_path(agent), members)), "id");
  }
  Result<OrderedJson> revoke(const std::string& agent) override {
    return with(TRY(api_.remove(agent_path(agent))), "jobs_cleared");
  }
  Result<void> remove(const std::string& agent) override {
    TRY(with(TRY(api_.remove(agent_path(agent) + "/record")), "ok"));
    return {};
  }
  Result<OrderedJson> reissue_code(const std::string& agent) override {
    return with(TRY(api_.post(agent_path(agent) + "/enrollment-code", Json::object())), "enrollment_code");
  }

 private:
  Result<OrderedJson> with(const Json& answer, const char* member) const {
    if (!answer.is_object() || !answer.contains(member)) return api_.unexpected_response(kAgents);
    return OrderedJson(answer);
  }
  net::ApiClient& api_;
};

class LocalAgentClient final : public AgentClient {
 public:
  LocalAgentClient(agent::Agents& agents, Principal principal)
      : agents_(agents), principal_(std::move(principal)) {}

  Result<OrderedJson> list() override {
    auto out = OrderedJson::array();
    for (const auto& agent : TRY(agents_.list(principal_))) out.push_back(to_json(agent, now()));
    return out;
  }
  Result<OrderedJson> get(const std::string& agent) override {
    return to_json(TRY(agents_.get(principal_, agent)), now());
  }
  Result<OrderedJson> add(const Json& agent) override {
    return to_json(TRY(agents_.create(principal_, agent, "")), now());
  }
  Result<OrderedJson> change(const std::string& agent, const Json& members) override {
    auto change = TRY(agent::read_agent_change(members));
    return to_json(TRY(agents_.change(principal_, agent, change)), now());
  }
  Result<OrderedJson> revoke(const std::string& agent) override {
    return to_json(TRY(agents_.revoke(principal_, agent)));
  }
  Result<void> remove(const std::string& agent) override { return agents_.remove(principal_, agent); }
  Result<OrderedJson> reissue_code(const std::string& agent) override {
    return to_json(TRY(agents_.reissue_code(principal_, agent, "")), now());
  }

 private:
  Time now() const { return agents_.clock().now(); }
  agent::Agents& agents_;
  const Principal principal_;
};

}  // namespace

std::unique_ptr<AgentClient> open_http_agent_client(net::ApiClient& api) {
  return std::make_unique<HttpAgentClient>(api);
}
std::unique_ptr<AgentClient> open_local_agent_client(agent::Agents& agents, Principal principal) {
  return std::make_unique<LocalAgentClient>(agents, std::move(principal));
}

}  // namespace dash::client
