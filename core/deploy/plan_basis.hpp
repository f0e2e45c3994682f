// What a plan was made from: a plan is applied only while the state is what it was then.
#pragma once
#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "core/base/json.hpp"

namespace dash::storage {
class LockedState;
}

namespace dash::deploy {

// {serial, lineage, digest} of a state's text; serial and lineage are null without a state.
Json plan_basis(std::string_view state);
Result<Json> plan_basis(storage::LockedState& state);

// Returns why a plan that was made from `before` is stale now; nullopt when it is not.
std::optional<std::string> stale_plan(const Json& before, const Json& now);

}  // namespace dash::deploy
