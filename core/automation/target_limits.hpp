// Where runs may connect to: the settings automation_targets and automation_max_targets.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/automation/host.hpp"
#include "core/automation/ip_address.hpp"
#include "core/base/principal.hpp"
#include "core/config/settings_snapshot.hpp"

namespace dash::automation {

inline constexpr std::string_view kTargetsKey = "automation_targets";
inline constexpr std::string_view kMaxTargetsKey = "automation_max_targets";
inline constexpr std::int64_t kDefaultMaxTargets = 500, kMaxMaxTargets = 10'000;

// Networks and names, comma-separated. A name is a host's address as it is written ("*.example.com" for all
// below it), or the name of a kept host.
struct TargetLimits {
  std::vector<IpNetwork> networks;
  std::vector<std::string> names;  // lower case
  std::int64_t max_targets = kDefaultMaxTargets;

  bool is_blank() const { return networks.empty() && names.empty(); }
};

// Check one value, for those who store it. Code::invalid names the entry.
Result<void> check_targets(std::string_view key, std::string_view text);
Result<void> check_max_targets(std::string_view key, std::string_view text);

// Code::conflict for settings that cannot be opened or read: they limit, so they never count as blank.
Result<TargetLimits> read_target_limits(const config::SettingsSnapshot& settings);

// Returns what a run of the principal may connect to for this host: the address that was checked, or the
// written one where no limit applies to it. An admin may use any kept host, and any address while
// automation_targets is blank. For others a blank list allows all but this machine and its own links. A name is
// resolved, and one of its addresses must be allowed; each of them for winrm, which connects by name.
// Code::invalid with the reason. May wait for DNS.
Result<std::string> allowed_address(const TargetLimits& limits, const Principal& principal, const Host& host);
// The same for a host that a remote agent connects to. A name is resolved there and by its rules, so that where a
// limit applies it must be listed as it is written.
Result<std::string> allowed_remote_address(const TargetLimits& limits, const Principal& principal,
                                           const Host& host);

}  // namespace dash::automation
