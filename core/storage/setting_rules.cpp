#include "core/storage/setting_rules.hpp"

#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/storage/backends.hpp"
#include "core/storage/registry.hpp"

namespace dash::storage {
namespace {

// First segments at the root of a bucket: infrastructure state in both spellings, the image hub, staged
// uploads, checkpoints of the audit log.
constexpr std::array<std::string_view, 5> kReserved{"iac-state", "terraform-state", "images",
                                                    ".dashctl-uploads", "dashctl-audit"};

bool is_prefix_key(std::string_view key) {
  return std::ranges::any_of(backends(), [&](const Backend& backend) {
    return backend.is_object_store && key == fmt::format("storage_{}_prefix", backend.id);
  });
}

std::string_view first_segment(std::string_view prefix) {
  while (prefix.starts_with('/')) prefix.remove_prefix(1);
  return trim(prefix.substr(0, prefix.find('/')));
}

}  // namespace

std::optional<SettingRefusal> refused_setting(std::string_view key, std::string_view value,
                                              const local::RootRules& roots) {
  if (key == "storage_local_path") {
    auto checked = check_local_root(value, roots);
    if (!checked) return SettingRefusal{"path_refused", checked.error().message};
  }
  if (is_prefix_key(key) && std::ranges::count(kReserved, first_segment(trim(value))))
    return SettingRefusal{
        "prefix_reserved",
        fmt::format("{} '{}' begins with '{}', where the dashboard keeps its own objects; choose "
                    "another prefix",
                    key, value, first_segment(trim(value)))};
  return std::nullopt;
}

}  // namespace dash::storage
