// The JSON text that both sides of the agent's protocol sign: members by code point, no spaces, ASCII alone
// (what is outside of 0x20 to 0x7e becomes \uXXXX in lower case), numbers of the kind they have (1.0 stays
// 1.0). Equal values give equal bytes.
#pragma once
#include <string>

#include "core/base/json.hpp"

namespace dash::agent {

// Strings are valid UTF-8 and numbers finite, as parse_json() returns them.
std::string canonical_json(const Json& value);

}  // namespace dash::agent
