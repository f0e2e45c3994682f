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

Result<void> check_deadline(Deadline deadline) {
  if (std::chrono::steady_clock::now() < deadline) return {};
  return fail(Code::busy, "the comparison of the rules takes too long; nothing was changed");
}

// A batch with a failing document is evaluated one by one.
Result<std::vector<Evaluation>> evaluate_each(Engine& engine, std::span<const std::string> documents,
                                              Deadline deadline) {
  std::vector<Evaluation> out;
  if (auto judged = engine.evaluate_all(documents)) {
    for (auto& result : *judged) out.push_back(evaluation_of(Result<EvalResult>(std::move(result))));
    return out;
  }
  for (const auto& document : documents) {
    TRY(check_deadline(deadline));
    out.push_back(evaluation_of(engine.evaluate(document)));
  }
  return out;
}

Result<void> compare(Engine& before, Engine& after, std::span<const std::string> documents, bool is_recorded,
                     Deadline deadline, PolicyDiff& out) {
  auto old_results = TRY(evaluate_each(before, documents, deadline));
  auto new_results = TRY(evaluate_each(after, documents, deadline));
  TRY(check_deadline(deadline));
  for (std::size_t i = 0; i < documents.size(); ++i) {
    ++out.compared;
    if (old_results[i] == new_results[i]) continue;
    out.changes.push_back(
        {is_recorded, parse_json(documents[i]).value_or(Json()), old_results[i], new_results[i]});
  }
  return {};
}

OrderedJson describe(const Evaluation& evaluation) {
  OrderedJson out{{"verdict", word(evaluation.verdict)}, {"reasons", evaluation.reasons}};
  if (evaluation.cause) out["cause"] = *evaluation.cause;
  return out;
}

Result<std::set<std::string>> words_of(Engine& engine) {
  auto status = engine.refresh();
  if (status.fault) return fail(Code::policy_unavailable, "{}: {}", status.directory, status.fault->message);
  if (!status.rules)
    return fail(Code::policy_unavailable, "{}: the policy engine is being started", status.directory);
  return literals(*status.rules);
}

}  // namespace

Result<PolicyDiff> diff_policies(Engine& before, Engine& after, const std::vector<DecisionRecord>& recorded,
                                 const DiffOptions& options) {
  auto words = TRY(words_of(before));
  words.merge(TRY(words_of(after)));
  PolicyDiff out;
  std::set<std::string> seen;  // the same request a thousand times is one document
  std::vector<std::string> replay;
  for (const auto& entry : recorded)
    if (auto text = dump_json(entry.input); entry.input.is_object() && seen.insert(text).second)
      replay.push_back(text);
  out.recorded = replay.size();
  auto domain = options.has_domain ? sample_documents(options.limits, words) : std::vector<std::string>();
  for (const auto* documents : {&replay, &domain})
    for (std::size_t at = 0; at < documents->size(); at += kDiffBatch)
      TRY(compare(before, after,
                  std::span(*documents).subspan(at, std::min(kDiffBatch, documents->size() - at)),
                  documents == &replay, options.deadline, out));
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
