// The key of a host that nobody has seen before.
#include "core/automation/hosts.hpp"

namespace dash::automation {

Result<void> Hosts::check_address(const Principal& principal, Host& host) {
  host.port = port_of(host);
  host.address = TRY(allowed_address(TRY(limits()), principal, host));
  return {};
}

Result<FirstContactResult> Hosts::first_contact(const Host& host) {
  auto stranger = host;
  stranger.secret = Secret();
  stranger.secret_kind = SecretKind::none;
  auto tested = TRY(test_connection(deps_.http, stranger, true));
  if (tested.new_key.empty())
    return Failure(
        tested.result.error.value_or(make_error(Code::unreachable, "the host '{}' shows no key", host.name)));
  return FirstContactResult{tested.new_key, tested.result.fingerprint};
}

}  // namespace dash::automation
