#include "core/config/exclusion.hpp"

#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/config/clouds.hpp"
#include "core/config/registry.hpp"

namespace dash::config {
namespace {

// The switch of a hypervisor is excluded with its details: it would be on without a host to call.
constexpr std::array<std::string_view, 7> kOnPremPrefixes = {
    "vmware_", "proxmox_", "vsphere_", "hyperv_", "nutanix_", "xcpng_", "storage_local_"};

bool is_share(std::string_view path) {
  path = trim(path);
  return path.starts_with("\\\\") || path.starts_with("//");
}

std::optional<Exclusion> parse_exclusion(std::string_view text) {
  for (auto reason :
       {Exclusion::instance_local, Exclusion::runtime_handle, Exclusion::local_path, Exclusion::on_prem})
    if (word(reason) == text) return reason;
  return std::nullopt;
}

}  // namespace

std::string_view word(Exclusion reason) {
  switch (reason) {
    case Exclusion::instance_local:
      return "instance_local";
    case Exclusion::runtime_handle:
      return "runtime_handle";
    case Exclusion::local_path:
      return "local_path";
    case Exclusion::on_prem:
      return "on_prem";
  }
  return "";
}

std::optional<Exclusion> exclusion_reason(std::string_view key, std::string_view value) {
  auto name = canonical_key(lower(trim(key)));
  if (name.empty()) return Exclusion::instance_local;
  if (name == "storage_local_path" && is_share(value)) return Exclusion::on_prem;
  if (const auto* info = lookup(name))
    if (auto reason = parse_exclusion(info->exclusion)) return reason;
  if (std::ranges::any_of(kOnPremPrefixes, [&](std::string_view p) { return name.starts_with(p); }))
    return Exclusion::on_prem;
  return std::nullopt;
}

}  // namespace dash::config
