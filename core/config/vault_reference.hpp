// References to secrets in a vault elsewhere ("aws_sm://vault/name"). They are settings like any other, shown
// and migrated as they are, and never resolved here. Pure.
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace dash::config {

inline constexpr std::array<std::string_view, 5> kVaultSchemes = {"aws_sm", "azure_kv", "gcp_sm", "bt_safe",
                                                                  "wlc"};

// Returns the reference's scheme ("aws_sm") when `value` points to a secret elsewhere. Five schemes,
// case-sensitive.
std::string vault_scheme(std::string_view value);
// Returns the segment of a reference that would name a vault (before the first '/'), "" when there is none.
std::string vault_id_of(std::string_view value);

}  // namespace dash::config
