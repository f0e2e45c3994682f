// What ansible is given about hosts: its inventory, and what ssh is given. Values of ours are marked as unsafe
// for ansible, so that no template in them is evaluated. Pure.
#pragma once
#include <span>
#include <string>

#include "core/automation/host.hpp"

namespace dash::automation {

// Files in the folder of a run's secrets.
inline constexpr std::string_view kInventoryFile = "inventory.json";
inline constexpr std::string_view kKnownHostsFile = "known_hosts";
inline constexpr std::string_view kSshConfigFile = "ssh_config";
std::string key_file_name(std::size_t host);          // of its private key
std::string certificate_file_name(std::size_t host);  // of the certificates that it is trusted by

// The inventory as ansible's plugin `yaml` reads it, in JSON. Has passwords; `folder` holds the key files.
Json inventory_of(std::span<const Host> hosts, const std::string& folder);
// The pinned keys of those that are reached by ssh.
std::string known_hosts_of(std::span<const Host> hosts);
// Settings of ssh by which only pinned keys are accepted and no key or agent of the server's own account is
// offered.
std::string ssh_config_of(const std::string& folder);

}  // namespace dash::automation
