#include "core/client/automation_client.hpp"

namespace dash::client {
namespace {

class HttpAutomationClient final : public AutomationClient {
 public:
  explicit HttpAutomationClient(net::ApiClient& api) : api_(api) {}

  Result<OrderedJson> run(const Json& body) override { return post("run", body, "job_id"); }
  Result<OrderedJson> run_bulk(const Json& body) override { return post("run-bulk", body, "jobs"); }
  Result<OrderedJson> deploy_compose(const Json& body) override {
    return post("compose-deploy", body, "job_id");
  }
  Result<OrderedJson> playbook(const std::string& job_id) override {
    auto path = fmt::format("/api/jobs/{}/playbook", net::percent_encode(job_id));
    return checked(path, TRY(api_.get(path)), "playbook");
  }

 private:
  Result<OrderedJson> post(std::string_view name, const Json& body, const char* member) {
    auto path = fmt::format("/api/config-mgmt/{}", name);
    return checked(path, TRY(api_.post(path, body)), member);
  }
  Result<OrderedJson> checked(const std::string& path, const Json& answer, const char* member) {
    if (!answer.is_object() || !answer.contains(member)) return api_.unexpected_response(path);
    return OrderedJson(answer);
  }
  net::ApiClient& api_;
};

class LocalAutomationClient final : public AutomationClient {
 public:
  LocalAutomationClient(automation::Automation& automation, Principal principal)
      : automation_(automation), principal_(std::move(principal)) {}

  Result<OrderedJson> run(const Json& body) override {
    return automation::run_to_json(TRY(automation_.run(principal_, body)));
  }
  Result<OrderedJson> run_bulk(const Json& body) override {
    return automation::to_json(TRY(automation_.run_bulk(principal_, body)));
  }
  Result<OrderedJson> deploy_compose(const Json& body) override {
    return automation::run_to_json(TRY(automation_.deploy_compose(principal_, body)));
  }
  Result<OrderedJson> playbook(const std::string& job_id) override {
    return automation_.playbook(principal_, job_id);
  }

 private:
  automation::Automation& automation_;
  const Principal principal_;
};

}  // namespace

std::unique_ptr<AutomationClient> open_http_automation_client(net::ApiClient& api) {
  return std::make_unique<HttpAutomationClient>(api);
}
std::unique_ptr<AutomationClient> open_local_automation_client(automation::Automation& automation,
                                                               Principal principal) {
  return std::make_unique<LocalAutomationClient>(automation, std::move(principal));
}

}  // namespace dash::client
