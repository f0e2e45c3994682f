// What a storage setting may not be whatever the others are: a folder of the host, a prefix under which the
// dashboard keeps its own. Asked by whatever writes settings. Pure but for the look at the folder.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/storage/local/root_rules.hpp"

namespace dash::storage {

struct SettingRefusal {
  std::string_view reason;  // word of an import's answer: path_refused, prefix_reserved
  std::string message;
};

// `key` in canonical spelling. nullopt when the value may be written; "" always may.
std::optional<SettingRefusal> refused_setting(std::string_view key, std::string_view value,
                                              const local::RootRules& roots);

}  // namespace dash::storage
