// The names that an upload may give an asset, and the type that follows from a name. Every other operation
// takes any key under the prefix (key.hpp), because another program may have placed it there.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace dash::storage {

inline constexpr std::size_t kMaxNameBytes = 255;  // one file name on every supported file system
inline constexpr std::size_t kMaxKeyBytes = 1024;  // the smallest bound of the four object stores
inline constexpr std::string_view kAllowedExtensions = ".deb, .ps1, .rpm, .sh, .yaml, .yml";

// Returns "playbook", "script", "powershell", "rpm" or "deb" by the extension in any case; nullopt for any
// other file.
std::optional<std::string_view> asset_type(std::string_view name);
// Compares ASCII letters without regard to case.
bool ends_with_ignoring_case(std::string_view text, std::string_view end);

// Checks for 1 to 255 bytes of UTF-8 without separator, control character (those of bidirectional text
// included) or leading dot. Code::invalid.
Result<void> check_file_name(std::string_view name);
// Calls check_file_name() and checks for an allowed extension. Code::invalid.
Result<void> check_upload_name(std::string_view name);
// Checks the stricter rule of an agent: a letter or digit first, then letters, digits, '.', '_' and '-'.
// Code::invalid.
Result<void> check_agent_name(std::string_view name);

}  // namespace dash::storage
