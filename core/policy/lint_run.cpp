#include <algorithm>
#include <set>

#include "core/config/clouds.hpp"
#include "core/policy/domain.hpp"
#include "core/policy/lint.hpp"

namespace dash::policy {
namespace {

constexpr std::size_t kBatch = 256;
constexpr std::size_t kMaxFailures = 20;  // places; a rule that fails fails for thousands of documents

// "r.rego:3: to_number: …" back into a place.
Problem place(const std::string& cause) {
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

// One failing document of a batch hides the others; each place is told once.
void try_documents(Engine& engine, std::span<const std::string> documents, std::set<std::string>& causes) {
  if (engine.judge_all(documents)) return;
  for (const auto& document : documents) {
    if (causes.size() >= kMaxFailures) return;
    if (auto judged = engine.judge(document); !judged) {
      auto cause = judged.error().message;
      // The values differ from document to document; the place and the call do not.
      auto call = cause.find(':', cause.find(':', cause.find(':') + 1) + 1);
      bool known = std::ranges::any_of(
          causes, [&](const std::string& c) { return c.substr(0, call) == cause.substr(0, call); });
      if (!known) causes.insert(cause);
    }
  }
}

// Whether some action at some hour leaves a way for the rule to say something, whatever request, actor and
// limits may be.
bool may_fire(Engine& engine, const RuleFile& rule, const char* member) {
  static const std::vector<std::string> kUnknown{"input.request", "input.actor", "input.limits",
                                                 "input.now.iso"};
  auto query = fmt::format("data.admission[{}].{}[_]", dump_json(Json(*rule.rule)), member);
  for (int hour = 0; hour < 24; ++hour)
    for (auto day : {"mon", "tue", "wed", "thu", "fri", "sat", "sun"})
      for (const auto& action : gated_action_names()) {
        auto can = engine.satisfiable(
            query, {{"action", action}, {"now", {{"weekday", day}, {"hour", hour}}}}, kUnknown);
        if (!can || *can) return true;  // what the engine cannot tell is no finding
      }
  return false;
}

}  // namespace

std::vector<Problem> lint_runs(Engine& engine, const RuleSet& rules, const Limits& limits) {
  std::vector<Problem> out;
  if (auto status = engine.status(); status.fault) return {*status.fault};
  auto documents = sample_documents(limits, literals(rules));
  std::set<std::string> causes;
  for (std::size_t at = 0; at < documents.size() && causes.size() < kMaxFailures; at += kBatch)
    try_documents(engine, std::span(documents).subspan(at, std::min(kBatch, documents.size() - at)), causes);
  for (const auto& cause : causes) out.push_back(place(cause));
  for (const auto& rule : rules.rules) {
    if (!rule.evaluates || rule.is_builtin || (!rule.has_deny && !rule.has_approval)) continue;
    if ((rule.has_deny && may_fire(engine, rule, "deny")) ||
        (rule.has_approval && may_fire(engine, rule, "needs_approval")))
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
