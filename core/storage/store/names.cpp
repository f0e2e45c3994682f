#include "core/storage/store/names.hpp"

#include <algorithm>
#include <array>

#include "core/base/utf8.hpp"

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

char lower_char(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool ends_with_ignoring_case(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         std::ranges::equal(text.substr(text.size() - end.size()), end, {}, lower_char, lower_char);
}

std::optional<std::string_view> asset_type(std::string_view name) {
  for (const auto& kind : kKinds)
    if (ends_with_ignoring_case(name, kind.extension)) return kind.type;
  return std::nullopt;
}

Result<void> check_file_name(std::string_view name) {
  if (name.empty()) return fail(Code::invalid, "the file name is empty");
  if (name.size() > kMaxNameBytes)
    return fail(Code::invalid, "the file name has {} bytes; at most {} are allowed", name.size(),
                kMaxNameBytes);
  if (!is_utf8(name) || has_control_character(name))
    return fail(Code::invalid, "the file name has a control character or is not UTF-8; rename the file");
  if (has_bidi_control(name))
    return fail(Code::invalid,
                "the file name has a character that turns the direction of writing; rename the file");
  if (name.find_first_of("/\\") != name.npos)
    return fail(Code::invalid, "'{}' has a separator; upload with the bare file name", name);
  if (name.front() == '.') return fail(Code::invalid, "'{}' begins with a dot; rename the file", name);
  return {};
}

Result<void> check_upload_name(std::string_view name) {
  TRY(check_file_name(name));
  if (!asset_type(name))
    return fail(Code::invalid, "Unsupported file type for '{}'. Allowed extensions: {}", name,
                kAllowedExtensions);
  return {};
}

Result<void> check_agent_name(std::string_view name) {
  constexpr std::string_view kInside = "._-";
  auto is_alnum = [](char c) {
    return (c >= '0' && c <= '9') || (lower_char(c) >= 'a' && lower_char(c) <= 'z');
  };
  auto fits = [&](char c) { return is_alnum(c) || kInside.find(c) != kInside.npos; };
  if (!name.empty() && is_alnum(name.front()) && std::ranges::all_of(name, fits)) return {};
  return fail(
      Code::invalid,
      "'{}' is not a name that an agent takes: a letter or digit first, then letters, digits, '.', '_', '-'",
      name);
}

}  // namespace dash::storage
