#include "core/config/held_back.hpp"

#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/config/clouds.hpp"
#include "core/config/registry.hpp"

namespace dash::config {
namespace {

// A hypervisor's switch goes with its details: it would be on without a host to talk to.
constexpr std::array<std::string_view, 7> kOnPremPrefixes = {
    "vmware_", "proxmox_", "vsphere_", "hyperv_", "nutanix_", "xcpng_", "storage_local_"};

bool is_share(std::string_view path) {
  path = trim(path);
  return path.starts_with("\\\\") || path.starts_with("//");
}

std::optional<HeldBack> reason_of(std::string_view text) {
  for (auto reason :
       {HeldBack::instance_local, HeldBack::runtime_handle, HeldBack::local_path, HeldBack::on_prem})
    if (word(reason) == text) return reason;
  return std::nullopt;
}

}  // namespace

std::string_view word(HeldBack reason) {
  switch (reason) {
    case HeldBack::instance_local:
      return "instance_local";
    case HeldBack::runtime_handle:
      return "runtime_handle";
    case HeldBack::local_path:
      return "local_path";
    case HeldBack::on_prem:
      return "on_prem";
  }
  return "";
}

std::optional<HeldBack> held_back_reason(std::string_view key, std::string_view value) {
  auto name = canonical_key(lower(trim(key)));
  if (name.empty()) return HeldBack::instance_local;
  if (name == "storage_local_path" && is_share(value)) return HeldBack::on_prem;
  if (const auto* info = lookup(name))
    if (auto reason = reason_of(info->held_back)) return reason;
  if (std::ranges::any_of(kOnPremPrefixes, [&](std::string_view p) { return name.starts_with(p); }))
    return HeldBack::on_prem;
  return std::nullopt;
}

}  // namespace dash::config
