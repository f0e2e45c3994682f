// YAML documents of this program as JSON.
#pragma once
#include <string_view>

#include "core/base/json.hpp"

namespace dash {

// Members keep their order, and an alias is a copy of what it names. A plain scalar is null, a boolean or a number
// as in the core schema of YAML 1.2; any other one, and each in quotes, is a string. For documents that are part of
// the program: nothing limits their depth. Code::invalid names the line.
Result<OrderedJson> parse_yaml(std::string_view text);

}  // namespace dash
