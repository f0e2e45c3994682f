// Connects to a host as a run would, and logs in.
#pragma once
#include <optional>
#include <string>

#include "core/automation/host.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::automation {

struct HostTestResult {
  bool ok = false;
  std::string fingerprint;  // of the key that the host shows; empty where it shows none (winrm, local)
  bool is_pinned = false;   // its key is pinned now
  bool is_logged_in = false;
  std::optional<Error> error;  // why it is not ok
};
// {ok, fingerprint, pinned, logged_in, reason, error}; `reason` is the error's word.
OrderedJson to_json(const HostTestResult& result);

struct ConnectionTest {
  HostTestResult result;
  std::string new_key;  // to be pinned; empty: none
};

// Connects to host.address. ssh: compares the key with the pinned one; logs in with the secret, if there is
// one. A host without a pinned key gets no login and is not ok, unless `accept_new_key`. Another key than the
// pinned one is Code::conflict; nothing secret was sent. winrm: asks for its identity by TLS, whose certificate
// must be valid, with the user's password. Takes 90 s at most.
Result<ConnectionTest> test_connection(net::HttpClient& http, const Host& host, bool accept_new_key);

}  // namespace dash::automation
