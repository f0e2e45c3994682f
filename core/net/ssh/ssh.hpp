// Runs a command on another machine by SSH, through libssh2. The host's key is checked against known_hosts
// first. The login tries the agent, a key file, then a password or keyboard-interactive prompts. Neither
// ~/.ssh/config nor jump hosts are supported: use the `ssh` program for them (docker_client.hpp). One thread.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/secret.hpp"
#include "core/net/process/child.hpp"
#include "core/net/ssh/known_hosts.hpp"
#include "core/net/ssh/ssh_address.hpp"

namespace dash::net {

struct SshOptions {
  std::string key_file = {};          // empty: the agent's keys, then those in ~/.ssh
  std::string known_hosts_file = {};  // empty: ~/.ssh/known_hosts, and the system's beside it
  bool accept_new_host = false;       // accept and remember an unknown host's key; never a changed one
  bool only_password = false;         // no key is tried
  // Called when needed, at most `attempts` times. An error ends the login.
  std::function<Result<Secret>(const std::string& question)> passphrase = {}, password = {};
  int passphrase_attempts = 1, password_attempts = 1;
  // An unlocked private key as text; no file and no agent is asked.
  Secret private_key = {};
  // Decides about the host's key in place of the known_hosts files, before anything secret is sent. Its error
  // ends the session.
  std::function<Result<void>(const HostKey&)> check_host_key = {};
  std::string preferred_key_type = {};  // beside check_host_key: the type to ask for first; empty: any
  // a sentence for the user: a host key was accepted
  std::function<void(const std::string& sentence)> note = {};
};

// Connects and checks the host's key, without a login. Errors as SshSession::open().
Result<void> check_ssh_host(const SshAddress& address, const SshOptions& options);

class SshSession {
 public:
  // Code::unreachable when there is no connection, or the host's key is unknown, changed or revoked;
  // Code::unauthenticated when the host accepts neither a key nor the password.
  static Result<SshSession> open(const SshAddress& address, const SshOptions& options);
  SshSession(SshSession&&) noexcept;
  SshSession& operator=(SshSession&&) noexcept;
  ~SshSession();

  // Runs it in the account's shell. Exit status and both streams are the command's. A stream above
  // `max_output` is Code::too_large, past `deadline` Code::timeout, a broken connection Code::unreachable.
  Result<ProcessResult> run(const std::string& command, std::chrono::milliseconds deadline,
                            std::size_t max_output);

  struct State;

 private:
  explicit SshSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace dash::net
