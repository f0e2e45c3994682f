#include "core/net/ssh/ssh.hpp"

#include "core/net/ssh/ssh_command.hpp"
#include "core/net/ssh/ssh_host.hpp"
#include "core/net/ssh/ssh_login.hpp"
#include "core/net/ssh/ssh_state.hpp"

namespace dash::net {

SshSession::SshSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
SshSession::SshSession(SshSession&&) noexcept = default;
SshSession& SshSession::operator=(SshSession&&) noexcept = default;
SshSession::~SshSession() = default;

namespace {

// The handshake, and the check of the host's key.
Result<void> verify_host(const SshSession::State& s, const SshOptions& options) {
  if (options.check_host_key) {
    TRY(s.handshake(offered_key_types({options.preferred_key_type})));
    return options.check_host_key(TRY(s.host_key()));
  }
  KnownHosts known_hosts(options.known_hosts_file);
  TRY(s.handshake(known_hosts.key_types(s.address)));
  return known_hosts.check(s.address, TRY(s.host_key()), options.accept_new_host, options.note);
}

}  // namespace

Result<void> check_ssh_host(const SshAddress& address, const SshOptions& options) {
  auto state = TRY(connect_ssh(address));
  return verify_host(*state, options);
}

Result<SshSession> SshSession::open(const SshAddress& address, const SshOptions& options) {
  SshSession out(TRY(connect_ssh(address)));
  const auto& s = *out.state_;
  TRY(verify_host(s, options));
  TRY(log_in(s, options));
  return out;
}

Result<ProcessResult> SshSession::run(const std::string& command, std::chrono::milliseconds deadline,
                                      std::size_t max_output) {
  return run_remote(*state_, command, Steady::now() + deadline, max_output);
}

}  // namespace dash::net
