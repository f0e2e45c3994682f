// What the members of a host may be. Code::invalid with the reason, unless noted. Pure.
#pragma once
#include <string>
#include <string_view>

#include "core/automation/host.hpp"
#include "core/net/ssh/known_hosts.hpp"

namespace dash::automation {

inline constexpr std::string_view kKeyBegin = "-----BEGIN";

// 1 to 253 letters, digits, '.', '_' and '-', the first one a letter or a digit; no name that ansible takes for
// a group.
Result<void> check_host_name(const std::string& name);
Result<void> check_group_name(const std::string& name);
Result<void> check_host_user(const std::string& user);

// Returns the address without the brackets of IPv6.
Result<std::string> read_address(std::string text);

// Returns the secret as it is stored: a private key ends with a line end. Code::validation for one that is
// shorter than kMinSecretBytes: it could not be replaced in a log. A vault reference is refused.
inline constexpr std::size_t kMinSecretBytes = 6;
Result<Secret> read_host_secret(Secret secret);

// Reads "<type> <base64> [comment]", also with the name of a known_hosts line before it.
Result<net::HostKey> parse_host_key(std::string_view text);
// Returns "<type> <base64>".
std::string host_key_text(const net::HostKey& key);

// Checks what depends on several members, and brings the key into its one form.
Result<void> check_host(Host& host);

}  // namespace dash::automation
