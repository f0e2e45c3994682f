// The only use of JSON text. nlohmann's parser does not recurse, but copying and dumping its values do, so a
// deep document would overflow the stack: parse_json() limits the depth. No other file calls json::parse or
// dump.
#pragma once
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace dash {

using Json = nlohmann::json;                 // sorted keys: input, and maps of any size
using OrderedJson = nlohmann::ordered_json;  // declared order: small outputs (look-up is linear)

inline constexpr int kMaxJsonDepth = 64;

// Parses one strict UTF-8 JSON document. The error (Code::invalid) names the byte position, never the
// content. Also errors: a member that occurs twice (two readers would see two documents), and whole numbers
// over 64 bits.
Result<Json> parse_json(std::string_view text);

// Is called with the members of an object that is a member of the document. Returns whether it took the value;
// then the document does not keep that member.
using TakeMember = std::function<bool(std::string_view section, const std::string& name, Json& value)>;
// Parses as parse_json() does, and passes members on while it reads, so that a document of many small ones is
// never held whole. What was taken before an error stays taken.
Result<Json> parse_json(std::string_view text, const TakeMember& take);

// Writes JSON and never throws: invalid UTF-8 becomes U+FFFD. indent < 0 is compact.
std::string dump_json(const Json& value, int indent = -1);
std::string dump_json(const OrderedJson& value, int indent = -1);

// Appends `text` as dump_json() writes it.
void append_json(std::string& out, std::string_view text);
// Writes an object of strings as dump_json() does, without a tree of it, which costs several times as much.
std::string dump_strings(const std::map<std::string, std::string>& members);

// Returns the string member `key` of an object, or nullopt when it is absent or of another type.
std::optional<std::string> string_member(const Json& object, std::string_view key);

}  // namespace dash
