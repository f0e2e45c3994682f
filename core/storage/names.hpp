// What an asset may be called and what kind it is (2-storage.md, Asset types). Asked by every path that takes
// a name: uploads with check_upload_name(), everything else with is_asset_key().
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace dash::storage {

inline constexpr std::size_t kMaxNameBytes = 255;  // one file name of every file system that we meet
inline constexpr std::size_t kMaxKeyBytes = 1024;  // the smallest bound of the four object stores
inline constexpr std::string_view kAllowedExtensions = ".deb, .ps1, .rpm, .sh, .yaml, .yml";

// "playbook", "script", "powershell", "rpm" or "deb" by the extension in any case; nullopt for any other
// file.
std::optional<std::string_view> asset_type(std::string_view name);

// 1 to 255 bytes of UTF-8 without separator, control character or leading dot, with an allowed extension.
// Code::invalid.
Result<void> check_upload_name(std::string_view name);

// A key that a listing may show: what uploads make and what others placed beneath the prefix
// ("dir/site.yml"). Names that climb
// ("..", an empty segment at an end) or that reach into a dot folder at the top are none, so they are as
// absent as any other.
bool is_asset_key(std::string_view name);

}  // namespace dash::storage
