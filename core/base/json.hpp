// The one door to JSON text. nlohmann's parser recurses nowhere but its values do, so a deep document would
// overflow the stack when copied or dumped: parse_json() cuts at a depth. Nobody else calls json::parse or
// dump.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace dash {

using Json = nlohmann::json;                 // sorted keys: input, and maps of any size
using OrderedJson = nlohmann::ordered_json;  // declared order: small outputs (look-up is linear)

inline constexpr int kMaxJsonDepth = 64;

// Strict UTF-8 JSON, one document. The error (Code::invalid) names line-free byte position, never the
// content. Errors too: a member that stands twice (two readers, two documents), whole numbers over 64 bits.
Result<Json> parse_json(std::string_view text);

// Never throws: invalid UTF-8 becomes U+FFFD. indent < 0 is compact.
std::string dump_json(const Json& value, int indent = -1);
std::string dump_json(const OrderedJson& value, int indent = -1);

// The string member `key` of an object, or nullopt when absent or of another type.
std::optional<std::string> string_member(const Json& object, std::string_view key);

}  // namespace dash
