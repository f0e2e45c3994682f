#include "core/policy/gate.hpp"

#include <algorithm>

#include "core/base/metrics.hpp"
#include "core/config/clouds.hpp"
#include "core/crypto/hash.hpp"
#include "core/policy/decision_log.hpp"
#include "core/policy/engine.hpp"
#include "core/policy/input.hpp"
#include "core/policy/refusal.hpp"

namespace dash::policy {
namespace {

FiredRule fired_rule(const RuleSet& rules, const std::string& id) {
  auto it = std::ranges::find_if(rules.rules, [&](const RuleFile& r) { return r.evaluates && r.rule == id; });
  return it == rules.rules.end() ? FiredRule{id, "", 0} : FiredRule{id, it->file, it->line};
}

void deny_unavailable(Decision& out, std::string cause) {
  out.verdict = Verdict::deny;
  out.reasons = {std::string(kUnavailable)};
  out.cause = std::move(cause);
}

void add_outcomes(Decision& out, const EvalResult& result) {
  out.policy_digest = result.rules->digest;
  for (const auto& [id, found] : result.outcomes) {
    out.rules.push_back(fired_rule(*result.rules, id));
    out.reasons.insert(out.reasons.end(), found.deny.begin(), found.deny.end());
    out.approval_reasons.insert(out.approval_reasons.end(), found.needs_approval.begin(),
                                found.needs_approval.end());
  }
  out.verdict = !out.reasons.empty()            ? Verdict::deny
                : !out.approval_reasons.empty() ? Verdict::needs_approval
                                                : Verdict::allow;
}

}  // namespace

Decision make_decision(const GateSettings& settings, std::string action, Json input, std::string_view text,
                       const Result<EvalResult>& result) {
  Decision out;
  out.gated = true;
  out.action = std::move(action);
  out.provider_names = settings.provider_names;
  out.enforce_needs_approval = settings.enforce_needs_approval;
  out.input = std::move(input);
  out.input_digest = crypto::to_hex(crypto::sha256(text));
  if (settings.fault)
    deny_unavailable(out, *settings.fault);
  else if (!result)
    deny_unavailable(out, result.error().message);
  else
    add_outcomes(out, *result);
  return out;
}

Decision evaluate_with(Engine& engine, const GateSettings& settings, std::string_view action,
                       const Json& request, const Actor& actor, Time at, std::optional<Deadline> deadline) {
  auto canonical = config::canonical_action(action);
  auto input = input_document(settings, canonical, request, actor, at);
  auto text = dump_json(input);
  Result<EvalResult> result = fail(Code::policy_unavailable, "not asked");
  if (!settings.fault) result = engine.evaluate(text, deadline.value_or(engine.deadline()));
  return make_decision(settings, std::move(canonical), std::move(input), text, result);
}

void locate_fired_heads(Engine& engine, Decision& decision) {
  if (decision.rules.empty()) return;
  auto heads = engine.fired_heads(dump_json(decision.input));
  if (!heads) return;
  std::vector<FiredRule> out;
  for (const auto& rule : decision.rules) {
    auto before = out.size();
    std::ranges::copy_if(*heads, std::back_inserter(out),
                         [&](const FiredRule& h) { return h.id == rule.id; });
    if (out.size() == before) out.push_back(rule);
  }
  decision.rules = std::move(out);
}

Result<GateSettings> EngineGate::settings() { return *TRY(live_settings(settings_)); }

Deadline EngineGate::deadline() const { return engine_.deadline(); }

Result<Decision> EngineGate::evaluate_unrecorded(std::string_view action, const Json& request,
                                                 const Actor& actor, Time at,
                                                 std::optional<Deadline> deadline) {
  auto now = TRY(live_settings(settings_));
  auto canonical = config::canonical_action(action);
  if (!now->gates(canonical)) {
    Decision out;
    out.action = std::move(canonical);
    out.provider_names = now->provider_names;
    return out;
  }
  auto began = std::chrono::steady_clock::now();
  auto decision = evaluate_with(engine_, *now, canonical, request, actor, at, deadline);
  metrics::observe(metrics::kDecisionSeconds, {std::string(word(decision.verdict)), decision.action},
                   std::chrono::steady_clock::now() - began);
  return decision;
}

Result<Decision> EngineGate::evaluate(std::string_view action, const Json& request, const Actor& actor,
                                      Time at, std::optional<Deadline> deadline) {
  auto decision = TRY(evaluate_unrecorded(action, request, actor, at, deadline));
  if (decision.gated) log_.record(decision, actor, at);
  return decision;
}

Result<Decision> EngineGate::dry_run(std::string_view action, const Json& request, const Actor& actor,
                                     Time at) {
  auto decision = TRY(evaluate_unrecorded(action, request, actor, at, std::nullopt));
  if (decision.gated) log_.record(decision, actor, at, /*is_dry_run=*/true);
  return decision;
}

std::string approval_digest(const Decision& decision, const Json& request) {
  auto limits = decision.input.is_object() ? decision.input.value("limits", Json::object()) : Json::object();
  Json covered{{"action", decision.action},
               {"request", request},
               {"rules", decision.policy_digest},
               {"limits",
                {{"regions", limits["allowed_regions"]},
                 {"types", limits["denied_instance_types"]},
                 {"window", limits["prod_window"]}}}};
  return crypto::to_hex(crypto::sha256(dump_json(covered)));
}

}  // namespace dash::policy
