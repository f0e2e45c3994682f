#include "core/policy/tools/diff.hpp"

#include <algorithm>

#include "core/policy/tools/domain.hpp"

namespace dash::policy {
namespace {

constexpr std::size_t kDiffBatch = 512;

Evaluation evaluation_of(const Result<EvalResult>& result) {
  Evaluation out;
  if (!result) return {Verdict::deny, {}, result.error().message};
  std::vector<std::string> asks;
  for (const auto& [id, found] : result->outcomes) {
    out.reasons.insert(out.reasons.end(), found.deny.begin(), found.deny.end());
    asks.insert(asks.end(), found.needs_approval.begin(), found.needs_approval.end());
  }
  out.verdict = !out.reasons.empty() ? Verdict::deny
                : asks.empty()       ? Verdict::allow
                                     : Verdict::needs_approval;
  if (out.verdict == Verdict::needs_approval) out.reasons = std::move(asks);
  return out;
}

// A batch with a failing document is evaluated one by one.
std::vector<Evaluation> evaluate_each(Engine& engine, std::span<const std::string> documents) {
  std::vector<Evaluation> out;
  if (auto judged = engine.evaluate_all(documents)) {
    for (auto& result : *judged) out.push_back(evaluation_of(Result<EvalResult>(std::move(result))));
    return out;
  }
  for (const auto& document : documents) out.push_back(evaluation_of(engine.evaluate(document)));
  return out;
}

void compare(Engine& before, Engine& after, std::span<const std::string> documents, bool is_recorded,
             PolicyDiff& out) {
  auto old_results = evaluate_each(before, documents), new_results = evaluate_each(after, documents);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    ++out.compared;
    if (old_results[i] == new_results[i]) continue;
    out.changes.push_back(
        {is_recorded, parse_json(documents[i]).value_or(Json()), old_results[i], new_results[i]});
  }
}

OrderedJson describe(const Evaluation& evaluation) {
  OrderedJson out{{"verdict", word(evaluation.verdict)}, {"reasons", evaluation.reasons}};
  if (evaluation.cause) out["cause"] = *evaluation.cause;
  return out;
}

Result<std::set<std::string>> words_of(Engine& engine) {
  auto status = engine.refresh();
  if (status.fault) return fail(Code::policy_unavailable, "{}: {}", status.directory, status.fault->message);
  return literals(*status.rules);
}

}  // namespace

Result<PolicyDiff> diff_policies(Engine& before, Engine& after, const std::vector<DecisionRecord>& recorded,
                                 const Limits& limits) {
  auto words = TRY(words_of(before));
  words.merge(TRY(words_of(after)));
  PolicyDiff out;
  std::set<std::string> seen;  // the same request a thousand times is one document
  std::vector<std::string> replay;
  for (const auto& entry : recorded)
    if (auto text = dump_json(entry.input); entry.input.is_object() && seen.insert(text).second)
      replay.push_back(text);
  out.recorded = replay.size();
  auto domain = sample_documents(limits, words);
  for (const auto* documents : {&replay, &domain})
    for (std::size_t at = 0; at < documents->size(); at += kDiffBatch)
      compare(before, after, std::span(*documents).subspan(at, std::min(kDiffBatch, documents->size() - at)),
              documents == &replay, out);
  std::ranges::stable_sort(out.changes, {},
                           [](const VerdictChange& c) { return c.before.verdict == c.after.verdict; });
  return out;
}

OrderedJson to_json(const PolicyDiff& diff) {
  OrderedJson out{
      {"compared", diff.compared}, {"recorded", diff.recorded}, {"changes", OrderedJson::array()}};
  for (const auto& change : diff.changes)
    out["changes"].push_back({{"source", change.is_recorded ? "recorded" : "domain"},
                              {"input", change.input},
                              {"old", describe(change.before)},
                              {"new", describe(change.after)}});
  return out;
}

}  // namespace dash::policy
