// Text as RFC 3629 has it. Asked wherever bytes from outside become a name.
#pragma once
#include <string_view>

namespace dash {

// No surrogates, no overlong form.
bool is_utf8(std::string_view text);
// The longest beginning of `text` that does not end inside of a character.
std::string_view whole_characters(std::string_view text);
// C0, DEL, and C1 (U+0080 to U+009F, two bytes in UTF-8).
bool has_control_character(std::string_view text);

}  // namespace dash
