// What an operator may ask of the gate: GET /api/settings/admission, POST /api/admission/check and `dashctl
// policy check`.
#pragma once
#include "core/base/principal.hpp"
#include "core/policy/engine.hpp"
#include "core/policy/gate.hpp"

namespace dash::policy {

// {"enabled", "enforce_needs_approval", "gated_actions": [s], "settings_fault": s|null, "directory",
// "policy_digest": s|null,
//  "engine": {"available", "sandboxed", "state"}, "fault": problem|null,
//  "rules": [{"rule", "file", "package", "builtin", "evaluates", "line", "problems": [s]}], "problems":
//  [problem]}
// Waits kPageTimeout at most for a build; after that it shows the last state, and "building". Admins only.
inline constexpr std::chrono::seconds kPageTimeout{1};
Result<OrderedJson> describe_admission(Gate& gate, Engine& engine, const Principal& principal);

// What /readyz reports, from what the engine's own thread found out last: only that there is a program while
// the gate is off. Starts nothing. Code::policy_unavailable without details, since anybody may ask.
Result<void> admission_ready(Gate& gate, Engine& engine);
// What serve calls once a second, so that a report starts nothing and yet tells what is: has the engine's
// thread look at the folder while the gate is on or the engine is in use.
void watch_admission(Gate& gate, Engine& engine);

// A dry run for the asker himself: nothing is created or audited. `at` absent: now. The body of the
// route is
// {"action": s, "request": {…}, "at": iso, "when": b}. Code::validation for another shape.
struct CheckRequest {
  std::string action;
  Json request = Json::object();
  std::optional<Time> at;
  bool when = false;  // answer with the next time of admission (when.hpp)
};
Result<CheckRequest> parse_check_request(const Json& body);
// The answer's document: a decision's, or When's. Causes of engine faults only to admins.
Result<OrderedJson> check_admission(Gate& gate, Engine& engine, const Clock& clock, const CheckRequest& check,
                                    const Principal& principal);

}  // namespace dash::policy
