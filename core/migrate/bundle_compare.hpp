// Compares a bundle that was sent to this instance with its own settings: POST /api/setup/compare {bundle}. The
// bundle is not kept, and no value is in the result.
#pragma once
#include "core/migrate/diff.hpp"
#include "core/migrate/local_target.hpp"

namespace dash::migrate {

// The body:
//   {"bundle": {…}, "only": [prefix], "regions": "merge" | "replace", "include_on_prem": b,
//    "allow_empty_values": b}
// Code::validation for another shape, and for a bundle that cannot be read.
struct BundleCompareRequest {
  Bundle bundle;
  DiffOptions options;
};
Result<BundleCompareRequest> parse_bundle_compare(const Json& body);

//   {counts, entries: [{key, category, chars, fingerprint}], kept, would_drop, not_replaced, would_vanish,
//    would_lose, warnings, refused, masked}
// as `migrate diff` prints it. A setting that this instance cannot open is UNKNOWN. Admins only; counted,
// throttled and audited as ConfigService::compare.
Result<OrderedJson> compare_bundle(LocalDeps deps, const Principal& principal, BundleCompareRequest request);

}  // namespace dash::migrate
