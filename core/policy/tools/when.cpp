#include "core/policy/tools/when.hpp"

#include "core/config/clouds.hpp"
#include "core/policy/input.hpp"

namespace dash::policy {
namespace {

constexpr int kFirstBatch = 24, kNextBatch = 512;  // hours a query

}  // namespace

Result<NextAdmission> find_next_admission(Engine& engine, const GateSettings& settings,
                                          std::string_view action, const Json& request, const Actor& actor,
                                          Time from) {
  using std::chrono::hours;
  auto canonical = config::canonical_action(action);
  NextAdmission out{evaluate_with(engine, settings, canonical, request, actor, from), {}, {}};
  if (out.now.cause) return fail(Code::policy_unavailable, "{}", *out.now.cause);
  if (out.now.verdict != Verdict::deny) {
    out.admitted = from;
    out.then = out.now;
    return out;
  }
  auto next = std::chrono::ceil<hours>(from + std::chrono::microseconds(1));
  for (int done = 0; done < kWhenDays * 24;) {
    int size = std::min(done == 0 ? kFirstBatch : kNextBatch, kWhenDays * 24 - done);
    std::vector<Json> inputs;
    std::vector<std::string> texts;
    for (int i = 0; i < size; ++i) {
      inputs.push_back(input_document(settings, canonical, request, actor, next + hours(done + i)));
      texts.push_back(dump_json(inputs.back()));
    }
    auto judged = TRY(engine.evaluate_all(texts));
    for (std::size_t i = 0; i < judged.size(); ++i) {
      auto decision = make_decision(settings, canonical, inputs[i], texts[i], judged[i]);
      if (decision.verdict == Verdict::deny) continue;
      out.admitted = next + hours(done + static_cast<int>(i));
      out.then = std::move(decision);
      return out;
    }
    done += size;
  }
  return out;
}

OrderedJson to_json(const NextAdmission& when) {
  return {{"admitted_at", when.admitted ? OrderedJson(format_iso(*when.admitted)) : OrderedJson(nullptr)},
          {"now", to_json(when.now, /*reveal_cause=*/true)},
          {"then", when.then ? to_json(*when.then, /*reveal_cause=*/true) : OrderedJson(nullptr)}};
}

}  // namespace dash::policy
