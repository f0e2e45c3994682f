// The input document of the rules, one per gated request:
//   {"action": s,
//    "actor": {"username": s, "is_admin": b},
//    "request": {…},
//    "limits": {"allowed_regions": [s], "denied_instance_types": [s], "prod_window": [s]},
//    "now": {"iso": "2026-07-03T14:00:00Z", "weekday": "fri", "hour": 14}}
// request.region and the limits are folded. Where folding changed something, `request.typed` has the original
// text, so that a reason can quote it:
//   {"region", "allowed_regions", "denied_instance_types", "prod_window"}
#pragma once
#include "core/policy/decision.hpp"
#include "core/policy/settings.hpp"

namespace dash::policy {

// Returns the time in UTC, whatever the process's locale and zone.
Json now_document(Time at);
// Returns the document. `request` is an object; `canonical_action` is rendered in the instance's spelling.
Json input_document(const GateSettings& settings, std::string_view canonical_action, const Json& request,
                    const Actor& actor, Time at);

}  // namespace dash::policy
