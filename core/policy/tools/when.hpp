// `policy when`: the next instant at which a request would no longer be denied.
#pragma once
#include "core/policy/engine.hpp"
#include "core/policy/gate.hpp"

namespace dash::policy {

inline constexpr int kWhenDays = 366;

struct NextAdmission {
  Decision now;                  // at `from`
  std::optional<Time> admitted;  // `from` itself, or the first full hour after it whose verdict is not deny
  std::optional<Decision> then;  // the decision at that instant
};

// Code::policy_unavailable when the engine fails.
Result<NextAdmission> find_next_admission(Engine& engine, const GateSettings& settings,
                                          std::string_view action, const Json& request, const Actor& actor,
                                          Time from);
// {"admitted_at": iso|null, "now": decision, "then": decision|null}
OrderedJson to_json(const NextAdmission& when);

}  // namespace dash::policy
