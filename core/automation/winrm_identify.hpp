// The smallest exchange of WS-Management (DSP0226, 11: Identify), with a login: shows that a Windows host can be
// reached, that its certificate is valid, and that the password is right.
#pragma once
#include "core/automation/host.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::automation {

// By https alone, with Basic authentication. The certificate must be valid for host.address, by the system's
// roots or host.host_key. Code::tls, Code::unreachable, Code::timeout; Code::unauthenticated for a refused
// login; Code::upstream for another answer; Code::invalid for a host without user or password.
Result<void> identify_winrm(net::HttpClient& http, const Host& host);

}  // namespace dash::automation
