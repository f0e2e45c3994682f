// UTF-8 by RFC 3629. Called wherever bytes from outside become a name.
#pragma once
#include <string>
#include <string_view>

namespace dash {

// Accepts neither surrogates nor overlong forms.
bool is_utf8(std::string_view text);
// Makes text that any database stores: bytes that are not UTF-8, and NUL, become U+FFFD.
std::string to_utf8(std::string_view text);
// Returns the longest beginning of `text` that does not end inside of a character.
std::string_view trim_partial_character(std::string_view text);
// Finds C0, DEL, and C1 (U+0080 to U+009F, two bytes in UTF-8).
bool has_control_character(std::string_view text);
// Finds U+202A to U+202E and U+2066 to U+2069: text after them may be displayed in another order than it has.
bool has_bidi_control(std::string_view text);
// Makes foreign text safe for a terminal. A control character or a byte that is not UTF-8 becomes U+FFFD, one
// that turns or breaks lines becomes its escape (\u202e). Characters of `allowed` stay.
std::string escape_controls(std::string_view text, std::string_view allowed);

}  // namespace dash
