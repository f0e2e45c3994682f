#include "core/policy/tools/admission.hpp"

#include <algorithm>

#include "core/base/shape.hpp"
#include "core/base/text.hpp"
#include "core/config/clouds.hpp"
#include "core/identity/default_workgroup.hpp"
#include "core/policy/refusal.hpp"
#include "core/policy/tools/when.hpp"

namespace dash::policy {
namespace {

OrderedJson or_null(const std::optional<std::string>& text) {
  return text ? OrderedJson(*text) : OrderedJson(nullptr);
}

OrderedJson describe_rule(const RuleFile& rule, const std::vector<Problem>& problems) {
  OrderedJson out{{"rule", or_null(rule.rule)},      {"file", rule.file},           {"package", rule.package},
                  {"builtin", rule.is_builtin},      {"evaluates", rule.evaluates}, {"line", rule.line},
                  {"problems", OrderedJson::array()}};
  for (const auto& problem : problems)
    if (problem.file == rule.file) out["problems"].push_back(problem.message);
  return out;
}

std::vector<std::string> display_actions(const GateSettings& settings) {
  auto out = settings.gated;
  if (settings.provider_names) std::ranges::transform(out, out.begin(), config::provider_action);
  return out;
}

// While the directory is broken, all that is known of its files is that none of them evaluates.
OrderedJson describe_file(const std::string& file) {
  return {{"rule", nullptr},
          {"file", file},
          {"package", nullptr},
          {"builtin", false},
          {"evaluates", false},
          {"line", 0},
          {"problems", {"the policy directory is broken: no rule evaluates"}}};
}

// Returns whether `action` is one of the six that create something.
bool is_deploy(std::string_view action) {
  auto name = config::canonical_action(action);
  return !name.ends_with(":destroy") && std::ranges::count(gated_action_names(), name) > 0;
}

// Returns the request that would be evaluated if `principal` submitted the change.
Result<Json> request_for(const CheckRequest& check, const Principal& principal) {
  auto out = check.request;
  if (!is_deploy(check.action)) return out;
  auto named = out.value("workgroup", Json());
  bool is_blank = named.is_null() || (named.is_string() && trim(named.get_ref<const std::string&>()).empty());
  if (!is_blank) return out;
  if (auto workgroup = TRY(identity::default_workgroup(principal))) out["workgroup"] = *workgroup;
  return out;
}

}  // namespace

Result<OrderedJson> describe_admission(Gate& gate, Engine& engine, const Principal& principal) {
  TRY(require_admin(principal));
  auto settings = TRY(gate.settings());
  auto status = engine.refresh(std::chrono::steady_clock::now() + kPageTimeout);
  OrderedJson out{{"enabled", settings.enabled},
                  {"enforce_needs_approval", settings.enforce_needs_approval},
                  {"gated_actions", display_actions(settings)},
                  {"settings_fault", or_null(settings.fault)},
                  {"directory", status.directory},
                  {"policy_digest", status.rules ? OrderedJson(status.rules->digest) : OrderedJson(nullptr)}};
  out["engine"] = {
      {"available", status.rules != nullptr}, {"sandboxed", status.sandboxed}, {"state", word(status.state)}};
  out["fault"] = status.fault ? to_json(*status.fault) : OrderedJson(nullptr);
  out["rules"] = out["problems"] = OrderedJson::array();
  if (status.fault) out["problems"].push_back(to_json(*status.fault));
  if (!status.rules)
    for (const auto& file : status.files) out["rules"].push_back(describe_file(file));
  if (!status.rules) return out;
  for (const auto& rule : status.rules->rules)
    out["rules"].push_back(describe_rule(rule, status.rules->problems));
  for (const auto& problem : status.rules->problems) out["problems"].push_back(to_json(problem));
  return out;
}

Result<void> admission_ready(Gate& gate, Engine& engine) {
  auto settings = TRY(gate.settings());
  if (!settings.enabled && engine.is_present()) return {};
  if (!settings.enabled)
    return fail(Code::policy_unavailable,
                "the gate is off; switched on it would refuse everything, for there is no policy engine");
  auto status = engine.status();
  if (settings.fault || status.fault)
    return fail(Code::policy_unavailable,
                "every gated action is refused: the policy engine, its rules or its settings are broken");
  bool waits_too_long =
      status.building_since && std::chrono::steady_clock::now() - *status.building_since > kDecisionTimeout;
  if (!status.rules || waits_too_long)
    return fail(Code::policy_unavailable, "gated actions wait for the policy engine, which is being started");
  return {};
}

void watch_admission(Gate& gate, Engine& engine) {
  auto settings = gate.settings();
  if ((settings && settings->enabled) || engine.status().state != EngineState::idle) engine.request_check();
}

Result<CheckRequest> parse_check_request(const Json& body) {
  CheckRequest out;
  auto action = body.find("action"), request = body.find("request"), at = body.find("at");
  if (action == body.end()) return missing_member("action");
  if (!action->is_string()) return wrong_type("action", "string");
  out.action = action->get<std::string>();
  if (request != body.end() && !request->is_object()) return wrong_type("request", "object");
  if (request != body.end()) out.request = *request;
  auto when = body.find("when");
  if (when != body.end() && !when->is_boolean()) return wrong_type("when", "boolean");
  out.when = when != body.end() && when->get<bool>();
  if (at != body.end() && !at->is_null()) {
    if (!at->is_string()) return wrong_type("at", "string");
    out.at = TRY(parse_iso(at->get<std::string>()));
  }
  if (auto known = check_action(out.action); !known) return wrong_value("action", known.error().message);
  return out;
}

Result<OrderedJson> check_admission(Gate& gate, Engine& engine, const Clock& clock, const CheckRequest& check,
                                    const Principal& principal) {
  Actor actor{principal.username, principal.is_admin, principal.request_id};
  auto at = check.at.value_or(clock.now());
  auto request = TRY(request_for(check, principal));
  if (!check.when) return to_json(TRY(gate.dry_run(check.action, request, actor, at)), principal.is_admin);
  auto when = find_next_admission(engine, TRY(gate.settings()), check.action, request, actor, at);
  if (!when && when.error().code == Code::policy_unavailable && !principal.is_admin)
    return fail(Code::policy_unavailable, "{}", kUnavailable);
  return to_json(TRY(std::move(when)));
}

}  // namespace dash::policy
