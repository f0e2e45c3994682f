// Lists and drops what crashes and abandoned clients leave in the stores: uploads that began and were never
// committed, and files of their staging. It touches nothing else, and only keys beneath the asset prefix,
// images/ and .dashctl-uploads/. For admins; removals are audited. A resumable session of obj_cloud3 cannot be
// listed (the service drops it after a week), nor can a share behind an agent.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "core/audit/log.hpp"
#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/base/principal.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::storage {

inline constexpr std::chrono::hours kDefaultSweepAge{24};
// A handle lives that long, so a younger upload may still be committed.
inline constexpr std::chrono::hours kMinSweepAge{12};

struct SweepDeps {
  Stores& stores;
  db::Sql& sql;
  audit::Log& audit;
  const Clock& clock;
};
struct SweepRequest {
  std::string backend;  // blank: all that are configured
  std::chrono::hours age = kDefaultSweepAge;
  bool is_applied = false;  // false: lists only
};
struct SweptItem {
  std::string backend;  // as this instance spells it
  Leftover leftover;
};
struct SweepResult {
  bool is_applied = false;
  std::vector<SweptItem> items;  // applied: what was dropped
  std::size_t swept = 0;
  struct FailedBackend {
    std::string backend;
    std::string error;
  };
  std::vector<FailedBackend> failed;  // when all backends were asked
};
// {ok, applied, items: [{backend, key, began_at, bytes}], swept}, and failed: [{backend, error}] if any did
OrderedJson to_json(const SweepResult&);

// Also records what each backend holds (usage.hpp). Code::invalid for an unknown or unconfigured backend and
// an age below kMinSweepAge. Code::upstream while a store's clock is apart: ages are then unknown.
Result<SweepResult> sweep_stores(const SweepDeps& deps, const Principal& principal,
                                 const SweepRequest& request);

}  // namespace dash::storage
