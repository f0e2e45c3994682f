#include "core/client/policy_client.hpp"

#include "core/config/clouds.hpp"
#include "core/policy/folder_engine.hpp"
#include "core/policy/refusal.hpp"
#include "core/policy/rule_folder.hpp"
#include "core/policy/tools/lint.hpp"
#include "core/policy/tools/when.hpp"

namespace dash::client {
namespace {

class HttpPolicyClient final : public PolicyClient {
 public:
  explicit HttpPolicyClient(net::ApiClient& api) : api_(api) {}

  Result<void> use_settings(const config::Values&) override {
    return fail(Code::usage, "the settings of an instance cannot be replaced through its API");
  }
  Result<OrderedJson> check(const PolicyQuery& query) override { return post(check_body(query)); }
  Result<OrderedJson> find_next_admission(const PolicyQuery& query) override {
    auto body = check_body(query);
    body["when"] = true;
    return post(body);
  }
  Result<std::vector<policy::Problem>> lint() override {
    std::vector<policy::Problem> out;
    auto answer = TRY(api_.get("/api/settings/admission"));
    for (const auto& p : answer.at("problems"))
      out.push_back({p.value("file", ""), p.value("row", 0), p.value("col", 0), p.value("code", ""),
                     p.value("message", ""), p.value("fix", ""), p.value("level", "error") == "error"});
    return out;
  }
  Result<policy::RuleTestResults> run_tests() override {
    return fail(Code::usage, "the tests run where the files are");
  }

 private:
  static Json check_body(const PolicyQuery& query) {
    return {{"action", query.action}, {"request", query.request}, {"at", format_iso(query.at)}};
  }
  Result<OrderedJson> post(const Json& body) {
    return OrderedJson(TRY(api_.post("/api/admission/check", body)));
  }

  net::ApiClient& api_;
};

// What an instance's folder and a folder of rules have in common: an engine in this process.
class EnginePolicyClient : public PolicyClient {
 public:
  explicit EnginePolicyClient(policy::Engine& engine) : engine_(engine) {}

  Result<void> use_settings(const config::Values& settings) override {
    settings_ = settings;
    return {};
  }
  Result<OrderedJson> check(const PolicyQuery& query) override {
    auto settings = TRY(settings_for(query));
    if (!evaluates(settings, query.action)) {
      policy::Decision none;
      none.action = config::canonical_action(query.action);
      return policy::to_json(none, /*reveal_cause=*/true);
    }
    auto decision =
        policy::evaluate_with(engine_, settings, query.action, query.request, query.actor, query.at);
    policy::locate_fired_heads(engine_, decision);
    return policy::to_json(decision, /*reveal_cause=*/true);
  }
  Result<OrderedJson> find_next_admission(const PolicyQuery& query) override {
    return policy::to_json(TRY(policy::find_next_admission(engine_, TRY(settings_for(query)), query.action,
                                                           query.request, query.actor, query.at)));
  }
  Result<std::vector<policy::Problem>> lint() override {
    auto settings = TRY(gate_settings(settings_));
    return policy::lint_policies(TRY(engine_options()), settings);
  }
  Result<policy::RuleTestResults> run_tests() override {
    return policy::run_rule_tests(TRY(engine_options()));
  }

 private:
  virtual Result<policy::EngineOptions> engine_options() = 0;
  // Returns the settings, with those of `changed` in place of their own.
  virtual Result<policy::GateSettings> gate_settings(const config::Values& changed) = 0;
  virtual bool evaluates(const policy::GateSettings& settings, const std::string& action) const = 0;

  Result<policy::GateSettings> settings_for(const PolicyQuery& query) {
    auto out = TRY(gate_settings(settings_));
    if (query.limits && out.typed.allowed_regions.empty() && out.typed.denied_instance_types.empty() &&
        out.typed.prod_window.empty())
      out.typed = out.folded = *query.limits;
    return out;
  }

  policy::Engine& engine_;
  config::Values settings_;
};

class LocalPolicyClient final : public EnginePolicyClient {
 public:
  explicit LocalPolicyClient(LocalPolicyDeps deps)
      : EnginePolicyClient(deps.engine), deps_(std::move(deps)) {}

 private:
  Result<policy::EngineOptions> engine_options() override {
    return policy::folder_engine_options(TRY(policy::rule_folder("", deps_.data_dir)));
  }
  Result<policy::GateSettings> gate_settings(const config::Values& changed) override {
    if (changed.empty()) return deps_.gate.settings();
    auto values = TRY(deps_.config.all());
    for (const auto& [key, value] : changed) values[key] = value;
    return policy::settings_of(values);
  }
  bool evaluates(const policy::GateSettings& settings, const std::string& action) const override {
    return settings.gates(config::canonical_action(action));
  }

  LocalPolicyDeps deps_;
};

class FolderPolicyClient final : public EnginePolicyClient {
 public:
  FolderPolicyClient(policy::EngineOptions options, std::unique_ptr<policy::Engine> engine)
      : EnginePolicyClient(*engine), options_(std::move(options)), engine_(std::move(engine)) {}

 private:
  Result<policy::EngineOptions> engine_options() override { return options_; }
  Result<policy::GateSettings> gate_settings(const config::Values& changed) override {
    auto values = changed;
    values.try_emplace(std::string(policy::kEnabledKey), "true");
    return policy::settings_of(values);
  }
  bool evaluates(const policy::GateSettings&, const std::string&) const override { return true; }

  policy::EngineOptions options_;
  std::unique_ptr<policy::Engine> engine_;
};

}  // namespace

std::unique_ptr<PolicyClient> open_http_policy_client(net::ApiClient& api) {
  return std::make_unique<HttpPolicyClient>(api);
}
std::unique_ptr<PolicyClient> open_local_policy_client(LocalPolicyDeps deps) {
  return std::make_unique<LocalPolicyClient>(std::move(deps));
}
Result<std::unique_ptr<PolicyClient>> open_folder_policy_client(const std::string& folder) {
  auto options = TRY(policy::folder_engine_options(folder));
  auto engine = policy::make_opa(options);
  return std::make_unique<FolderPolicyClient>(std::move(options), std::move(engine));
}

}  // namespace dash::client
