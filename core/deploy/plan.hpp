// What a plan does, from the JSON that the program shows of it. Pure.
#pragma once
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/json.hpp"

namespace dash::deploy {

struct PlanSummary {
  std::int64_t add = 0, change = 0, destroy = 0;
  std::string digest;  // of the plan file
};
// {add, change, destroy, digest}
OrderedJson to_json(const PlanSummary& plan);

// Reads `show -json`: a replaced resource counts as one to add and one to destroy. Code::integrity for another
// shape.
Result<PlanSummary> read_plan(std::string_view shown);

}  // namespace dash::deploy
