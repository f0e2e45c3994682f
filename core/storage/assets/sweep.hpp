// Drops what crashes and abandoned clients leave in a store: uploads that began and were never committed. For
// admins; audited. Stores that expire such uploads themselves (obj_cloud2 after a week) have nothing to
// sweep.
#pragma once
#include <chrono>
#include <string>

#include "core/audit/log.hpp"
#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/base/principal.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::storage {

// No handle lives as long, so an older upload can never be committed.
inline constexpr std::chrono::hours kDefaultSweepAge{24};

struct SweepDeps {
  Stores& stores;
  db::Sql& sql;
  audit::Log& audit;
  const Clock& clock;
};
struct SweepResult {
  std::string backend;  // as this instance spells it
  std::uint32_t uploads = 0;
};
OrderedJson to_json(const SweepResult&);  // {ok, backend, swept}

// Sweeps a backend; blank is the active one. An open upload that is older than `age` is lost. Code::invalid
// for an unknown or unconfigured backend and a negative age.
Result<SweepResult> sweep_backend(const SweepDeps& deps, const Principal& principal, std::string_view backend,
                                  std::chrono::hours age);

}  // namespace dash::storage
