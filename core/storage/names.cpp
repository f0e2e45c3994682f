#include "core/storage/names.hpp"

#include <algorithm>
#include <array>

namespace dash::storage {
namespace {

struct Kind {
  std::string_view extension;
  std::string_view type;
};
constexpr std::array<Kind, 6> kKinds{{{".yml", "playbook"},
                                      {".yaml", "playbook"},
                                      {".sh", "script"},
                                      {".ps1", "powershell"},
                                      {".rpm", "rpm"},
                                      {".deb", "deb"}}};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool ends_with_ignoring_case(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::ranges::equal(text.substr(text.size() - end.size()), end, {}, lower, lower);
}

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

// C0, DEL, and C1 (U+0080 to U+009F, two bytes in UTF-8).
bool has_control_character(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto b = byte_at(text, i);
    if (b < 0x20 || b == 0x7f) return true;
    if (b == 0xc2 && i + 1 < text.size() && byte_at(text, i + 1) < 0xa0) return true;
  }
  return false;
}

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

std::optional<std::string_view> asset_type(std::string_view name) {
  for (const auto& kind : kKinds)
    if (ends_with_ignoring_case(name, kind.extension)) return kind.type;
  return std::nullopt;
}

Result<void> check_upload_name(std::string_view name) {
  if (name.empty()) return fail(Code::invalid, "the file name is empty");
  if (name.size() > kMaxNameBytes)
    return fail(Code::invalid, "the file name has {} bytes; at most {} are allowed", name.size(),
                kMaxNameBytes);
  if (!is_utf8(name) || has_control_character(name))
    return fail(Code::invalid, "the file name has a control character or is not UTF-8; rename the file");
  if (name.find_first_of("/\\") != name.npos)
    return fail(Code::invalid, "'{}' has a separator; upload with the bare file name", name);
  if (name.front() == '.') return fail(Code::invalid, "'{}' begins with a dot; rename the file", name);
  if (!asset_type(name))
    return fail(Code::invalid, "Unsupported file type for '{}'. Allowed extensions: {}", name,
                kAllowedExtensions);
  return {};
}

bool is_asset_key(std::string_view name) {
  if (name.empty() || name.size() > kMaxKeyBytes || name.front() == '/' || name.front() == '.') return false;
  if (!is_utf8(name) || has_control_character(name) || !asset_type(name)) return false;
  for (std::string_view rest = name; !rest.empty();) {
    auto end = std::min(rest.find_first_of("/\\"), rest.size());
    auto segment = rest.substr(0, end);
    if (segment == "." || segment == "..") return false;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return true;
}

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

}  // namespace dash::storage
