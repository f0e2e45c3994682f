// A pinned plan: it records what a diff saw, so that an import writes exactly that or refuses. It has the
// bundle's digest, the selection, and for each key a keyed hash of the target's state. It holds no values, so
// it may be attached to a change request. Pure.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/migrate/diff.hpp"

namespace dash::migrate {

inline constexpr int kPlanSchema = 1;
inline constexpr std::size_t kMaxPlanBytes = 64u << 20;

struct MigrationPlan {
  std::string target;  // as the user named it
  std::string made_at;
  std::string bundle;  // its file, absolute; empty when it came from stdin
  std::string bundle_digest;
  DiffOptions options;
  std::string hash_key;                       // raw bytes, random
  std::map<std::string, std::string> states;  // key → hash of the target's state
};

// `file` is the bundle's path.
MigrationPlan make_plan(const Bundle& bundle, std::string_view file, const Diff& diff,
                        const DiffOptions& options, std::string_view target, Time now);

std::string write_plan(const MigrationPlan& plan);
// Code::integrity naming `file`.
Result<MigrationPlan> parse_plan(std::string_view text, std::string_view file);

// Code::drift names the keys whose state on the target is neither the planned one nor already the bundle's,
// except those in `accepted` (either spelling); it is also the error when the bundle is another one.
// Code::usage for another target.
Result<void> check_plan(const MigrationPlan& plan, const Bundle& bundle, const Diff& now,
                        std::string_view target, const std::vector<std::string>& accepted);

}  // namespace dash::migrate
