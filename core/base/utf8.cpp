#include "core/base/utf8.hpp"

namespace dash {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

// Bytes of the character that `lead` begins; 0 for a byte that begins none.
std::size_t width_of(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  if (lead >= 0xf0 && lead <= 0xf4) return 4;
  return 0;
}

// The second byte rules out overlong forms, surrogates and what lies beyond U+10FFFF (RFC 3629 §4).
bool second_byte_fits(unsigned lead, unsigned second) {
  if (lead == 0xe0) return second >= 0xa0 && second <= 0xbf;
  if (lead == 0xed) return second >= 0x80 && second <= 0x9f;
  if (lead == 0xf0) return second >= 0x90 && second <= 0xbf;
  if (lead == 0xf4) return second >= 0x80 && second <= 0x8f;
  return second >= 0x80 && second <= 0xbf;
}

bool is_tail(unsigned b) { return b >= 0x80 && b <= 0xbf; }

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    auto lead = byte_at(text, i);
    auto width = width_of(lead);
    if (width == 0 || i + width > text.size()) return false;
    if (width > 1 && !second_byte_fits(lead, byte_at(text, i + 1))) return false;
    for (std::size_t k = 2; k < width; ++k)
      if (!is_tail(byte_at(text, i + k))) return false;
    i += width;
  }
  return true;
}

std::string_view whole_characters(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    auto b = byte_at(text, text.size() - back);
    if (is_tail(b)) continue;
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

}  // namespace dash
