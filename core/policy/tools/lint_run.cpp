#include <algorithm>
#include <set>

#include "core/config/clouds.hpp"
#include "core/policy/tools/domain.hpp"
#include "core/policy/tools/lint.hpp"

namespace dash::policy {
namespace {

constexpr std::size_t kLintBatch = 256;
constexpr std::size_t kMaxFailures = 20;  // places; a rule that fails fails for thousands of documents

// failing documents of a batch that are evaluated again to find the place
constexpr std::size_t kMaxRetriedPerBatch = 8;

// Reads the place from "r.rego:3: to_number: …".
Problem problem_at(const std::string& cause) {
  Problem out{"",    0,
              0,     "evaluation",
              cause, "make the rule hold for every input document: test a value before it is used",
              true};
  auto first = cause.find(':');
  auto second = first == cause.npos ? cause.npos : cause.find(':', first + 1);
  if (second == cause.npos || !is_rego(cause.substr(0, first))) return out;
  out.file = cause.substr(0, first);
  out.row = std::atoi(cause.c_str() + first + 1);
  out.message = cause.substr(cause.find_first_not_of(' ', second + 1));
  out.code = out.message.find("not a set of strings") != out.message.npos ? "shape" : "builtin_fails";
  if (out.code == "shape") return out;
  out.message =
      fmt::format("fails for some requests, and then every rule is refused with it: {}", out.message);
  out.fix = "test the value before the call, e.g. regex.match(`^[0-9]+$`, x)";
  return out;
}

// One failing document of a batch hides the others. Each place is reported once.
void evaluate_documents(Engine& engine, std::span<const std::string> documents,
                        std::set<std::string>& causes) {
  if (engine.evaluate_all(documents)) return;
  std::size_t failed = 0;
  for (const auto& document : documents) {
    if (causes.size() >= kMaxFailures || failed >= kMaxRetriedPerBatch) return;
    if (auto judged = engine.evaluate(document); !judged) {
      ++failed;
      auto cause = judged.error().message;
      // The values differ from document to document; place and call are the same.
      auto call = cause.find(':', cause.find(':', cause.find(':') + 1) + 1);
      bool known = std::ranges::any_of(
          causes, [&](const std::string& c) { return c.substr(0, call) == cause.substr(0, call); });
      if (!known) causes.insert(cause);
    }
  }
}

using Inputs = std::vector<Json>;

// The possible values, a dimension at a time: whatever the others are, one of them must let the rule deny.
Inputs actions() {
  Inputs out;
  for (const auto& canonical : gated_action_names())
    for (const auto& action : {canonical, config::provider_action(canonical)})
      out.push_back({{"action", action}});
  return out;
}
Inputs weekdays() {
  Inputs out;
  for (auto day : {"mon", "tue", "wed", "thu", "fri", "sat", "sun"})
    out.push_back({{"now", {{"weekday", day}}}});
  return out;
}
Inputs hours() {
  Inputs out;
  for (int hour = 0; hour < 24; ++hour) out.push_back({{"now", {{"hour", hour}}}});
  return out;
}

// Returns whether the rule can have a result at all, for any request, actor and limits.
bool can_fire(Engine& engine, const RuleFile& rule, const char* member) {
  auto query = fmt::format("data.admission[{}].{}[_]", dump_json(Json(*rule.rule)), member);
  auto possible = [&](const Inputs& inputs, std::vector<std::string> unknown) {
    unknown.insert(unknown.end(), {"input.request", "input.actor", "input.limits", "input.now.iso"});
    return std::ranges::any_of(inputs, [&](const Json& input) {
      auto can = engine.is_satisfiable(query, input, unknown);
      return !can || *can;  // an unknown answer is no finding
    });
  };
  return possible(actions(), {"input.now.weekday", "input.now.hour"}) &&
         possible(weekdays(), {"input.action", "input.now.hour"}) &&
         possible(hours(), {"input.action", "input.now.weekday"});
}

}  // namespace

std::vector<Problem> lint_runs(Engine& engine, const RuleSet& rules, const Limits& limits) {
  std::vector<Problem> out;
  if (auto status = engine.refresh(); status.fault) return {*status.fault};
  auto documents = sample_documents(limits, literals(rules));
  std::set<std::string> causes;
  for (std::size_t at = 0; at < documents.size() && causes.size() < kMaxFailures; at += kLintBatch)
    evaluate_documents(engine, std::span(documents).subspan(at, std::min(kLintBatch, documents.size() - at)),
                       causes);
  for (const auto& cause : causes) out.push_back(problem_at(cause));
  for (const auto& rule : rules.rules) {
    if (!rule.evaluates || rule.is_builtin || (!rule.has_deny && !rule.has_approval)) continue;
    if ((rule.has_deny && can_fire(engine, rule, "deny")) ||
        (rule.has_approval && can_fire(engine, rule, "needs_approval")))
      continue;
    out.push_back(
        {rule.file, rule.line, 1, "never_denies",
         "can never deny: no action, weekday or hour makes its conditions true",
         "compare with values that occur: weekdays are mon … sun, hours 0 … 23, actions as in the settings",
         true});
  }
  return out;
}

}  // namespace dash::policy
