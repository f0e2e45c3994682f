#include "core/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dash {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

// Bytes of the character that `lead` begins; 0 for a byte that begins none.
std::size_t width_of(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

// The second byte rules out overlong forms, surrogates and numbers beyond U+10FFFF (RFC 3629 §4).
bool is_second_byte(unsigned lead, unsigned second) {
  if (lead == 0xe0) return second >= 0xa0 && second <= 0xbf;
  if (lead == 0xed) return second >= 0x80 && second <= 0x9f;
  if (lead == 0xf0) return second >= 0x90 && second <= 0xbf;
  if (lead == 0xf4) return second >= 0x80 && second <= 0x8f;
  return second >= 0x80 && second <= 0xbf;
}

bool is_continuation_byte(unsigned b) { return b >= 0x80 && b <= 0xbf; }

// Returns the number of bytes of the character at `i`; 0 when there is none.
std::size_t character_length(std::string_view text, std::size_t i) {
  auto lead = byte_at(text, i);
  auto width = width_of(lead);
  if (width == 0 || i + width > text.size()) return 0;
  if (width > 1 && !is_second_byte(lead, byte_at(text, i + 1))) return 0;
  for (std::size_t k = 2; k < width; ++k)
    if (!is_continuation_byte(byte_at(text, i + k))) return 0;
  return width;
}

// Returns the code point of a character of three bytes, else 0. Every character that turns or breaks lines
// has three.
unsigned three_byte_code_point(std::string_view character) {
  if (character.size() != 3) return 0;
  return (byte_at(character, 0) & 0x0fu) << 12 | (byte_at(character, 1) & 0x3fu) << 6 |
         (byte_at(character, 2) & 0x3fu);
}

bool is_bidi_control(unsigned number) {
  return (number >= 0x202a && number <= 0x202e) || (number >= 0x2066 && number <= 0x2069);
}
bool is_line_separator(unsigned number) { return number == 0x2028 || number == 0x2029; }

bool is_control(std::string_view character) {
  auto lead = byte_at(character, 0);
  return lead < 0x20 || lead == 0x7f || (lead == 0xc2 && byte_at(character, 1) < 0xa0);
}

std::string escaped_character(std::string_view character, std::string_view allowed) {
  auto number = three_byte_code_point(character);
  if (is_bidi_control(number) || is_line_separator(number)) return fmt::format("\\u{:04x}", number);
  bool is_kept =
      !is_control(character) || (character.size() == 1 && allowed.find(character[0]) != allowed.npos);
  return is_kept ? std::string(character) : std::string(kReplacement);
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    auto width = character_length(text, i);
    if (width == 0) return false;
    i += width;
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    auto width = text[i] == '\0' ? 0 : character_length(text, i);
    out += width == 0 ? kReplacement : text.substr(i, width);
    i += std::max<std::size_t>(width, 1);
  }
  return out;
}

std::string_view trim_partial_character(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    auto b = byte_at(text, text.size() - back);
    if (is_continuation_byte(b)) continue;
    return width_of(b) > back ? text.substr(0, text.size() - back) : text;
  }
  return text;
}

bool has_control_character(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto b = byte_at(text, i);
    if (b < 0x20 || b == 0x7f) return true;
    if (b == 0xc2 && i + 1 < text.size() && byte_at(text, i + 1) < 0xa0) return true;
  }
  return false;
}

bool has_bidi_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (character_length(text, i) == 3 && is_bidi_control(three_byte_code_point(text.substr(i, 3))))
      return true;
  return false;
}

std::string escape_controls(std::string_view text, std::string_view allowed) {
  auto is_plain = [](unsigned char c) { return c >= 0x20 && c < 0x7f; };
  if (std::ranges::all_of(text, is_plain)) return std::string(text);  // nearly every text
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    auto width = character_length(text, i);
    out += width == 0 ? std::string(kReplacement) : escaped_character(text.substr(i, width), allowed);
    i += width == 0 ? 1 : width;
  }
  return out;
}

}  // namespace dash
