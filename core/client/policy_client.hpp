// The policy of an instance, over its API or its data folder, or of a folder of rules without an instance.
// Documents are those of POST /api/admission/check. Nothing is created or audited.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/net/http/api_client.hpp"
#include "core/policy/engine.hpp"
#include "core/policy/gate.hpp"
#include "core/policy/tools/test_rules.hpp"

namespace dash::client {

// A request to evaluate. Over the API the signed-in account is the actor, and the limits are the instance's.
struct PolicyQuery {
  std::string action;
  Json request = Json::object();
  policy::Actor actor;
  Time at;
  std::optional<policy::Limits> limits;  // used where the settings have none
};

class PolicyClient {
 public:
  virtual ~PolicyClient() = default;
  // Replaces settings of the instance in all later calls. Code::usage over the API.
  virtual Result<void> use_settings(const config::Values& settings) = 0;

  virtual Result<OrderedJson> check(const PolicyQuery& query) = 0;  // a decision
  // Returns {admitted_at, now, then}: the next time at which the request would not be denied.
  virtual Result<OrderedJson> find_next_admission(const PolicyQuery& query) = 0;
  virtual Result<std::vector<policy::Problem>> lint() = 0;
  // Runs the unit tests of the rules. Code::usage over the API, because they run on the machine with the
  // files.
  virtual Result<policy::RuleTestResults> run_tests() = 0;
};

std::unique_ptr<PolicyClient> open_http_policy_client(net::ApiClient& api);
struct LocalPolicyDeps {
  policy::Engine& engine;
  policy::Gate& gate;
  config::EncryptedStore& config;
  std::string data_dir;
};
std::unique_ptr<PolicyClient> open_local_policy_client(LocalPolicyDeps deps);
// Opens a folder of rules. The gate is switched on and has no other setting; every action is evaluated.
Result<std::unique_ptr<PolicyClient>> open_folder_policy_client(const std::string& folder);

}  // namespace dash::client
