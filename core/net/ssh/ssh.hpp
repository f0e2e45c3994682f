// A command on another machine by SSH, through libssh2. The host's key is checked against known_hosts before
// anything is said; a login is tried with the agent, a key file, then a password, or what the host asks in
// place of one. Neither ~/.ssh/config nor jump hosts are known here: those who need them take the `ssh`
// program (net/docker_client.hpp). One thread.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/secret.hpp"
#include "core/net/process/child.hpp"
#include "core/net/ssh/ssh_address.hpp"

namespace dash::net {

struct SshOptions {
  std::string key_file = {};          // empty: the agent's keys, then those in ~/.ssh
  std::string known_hosts_file = {};  // empty: ~/.ssh/known_hosts, and the system's beside it
  bool accept_new_host = false;       // an unknown host's key is taken and remembered; a changed one never
  bool only_password = false;         // no key is tried
  // Asked when needed, `attempts` times at most; an error ends the login.
  std::function<Result<Secret>(const std::string& question)> passphrase = {}, password = {};
  int passphrase_attempts = 1, password_attempts = 1;
  std::function<void(const std::string& sentence)> note = {};  // for people: a host key that was taken
};

class SshSession {
 public:
  // Code::unreachable when there is no connection, or the host's key is unknown, changed or revoked;
  // Code::unauthenticated when the host does not take any of our keys or the password.
  static Result<SshSession> open(const SshAddress& address, const SshOptions& options);
  SshSession(SshSession&&) noexcept;
  SshSession& operator=(SshSession&&) noexcept;
  ~SshSession();

  // Through the account's shell. Exit status and both streams are the command's; a stream above `max_output`
  // is Code::too_large, past `deadline` Code::timeout, a connection that breaks Code::unreachable.
  Result<ProcessResult> run(const std::string& command, std::chrono::milliseconds deadline,
                            std::size_t max_output);

  struct State;

 private:
  explicit SshSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace dash::net
