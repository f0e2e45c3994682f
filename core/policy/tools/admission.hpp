// The operator's queries to the gate: GET /api/settings/admission, POST /api/admission/check and `dashctl
// policy check`.
#pragma once
#include "core/base/principal.hpp"
#include "core/policy/engine.hpp"
#include "core/policy/gate.hpp"

namespace dash::policy {

//   {"enabled", "enforce_needs_approval", "gated_actions": [s], "settings_fault": s|null,
//    "directory", "policy_digest": s|null,
//    "engine": {"available", "sandboxed", "state"},
//    "fault": problem|null,
//    "rules": [{"rule", "file", "package", "builtin", "evaluates", "line", "problems": [s]}],
//    "problems": [problem]}
// Waits at most kPageTimeout for a build; after that it returns the last state, and "building". Admins only.
inline constexpr std::chrono::seconds kPageTimeout{1};
Result<OrderedJson> describe_admission(Gate& gate, Engine& engine, const Principal& principal);

// Reports to /readyz what the engine's own thread found last; while the gate is off, only that there is a
// program. Starts nothing. Code::policy_unavailable without details, because the route is public.
Result<void> admission_ready(Gate& gate, Engine& engine);
// Makes the engine's thread read the folder while the gate is on or the engine is in use. The server calls it
// once a second, so that a report starts nothing and is still current.
void watch_admission(Gate& gate, Engine& engine);

// A dry run for the caller itself: nothing is created or audited. `at` absent: now. The route's body is
//   {"action": s, "request": {…}, "at": iso, "when": b}
// Code::validation for another shape.
struct CheckRequest {
  std::string action;
  Json request = Json::object();
  std::optional<Time> at;
  bool when = false;  // return the next time of admission (when.hpp)
};
Result<CheckRequest> parse_check_request(const Json& body);
// Returns the response's document: a decision's, or NextAdmission's. Only admins get the causes of engine
// faults.
Result<OrderedJson> check_admission(Gate& gate, Engine& engine, const Clock& clock, const CheckRequest& check,
                                    const Principal& principal);

}  // namespace dash::policy
