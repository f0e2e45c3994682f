// The docker client, on this machine or on another by SSH. core/migrate/docker uses it.
#pragma once
#include <string>
#include <vector>

#include "core/net/ssh/ssh.hpp"

namespace dash::net {

// The transport of ssh:// addresses. The library prompts for passphrases and passwords. The program reads the
// operator's ~/.ssh/config (jump hosts, aliases, hardware keys, RSA keys) and prompts for nothing.
enum class SshTransport { library, program };

struct DockerHost {
  std::string host = {};  // empty: this machine; ssh://[user@]host[:port]; else as `docker --host` takes it
  SshTransport transport = SshTransport::library;
  SshOptions ssh = {};
};

// The docker client of one machine. The connection is made once. One thread.
class DockerClient {
 public:
  explicit DockerClient(DockerHost host) : host_(std::move(host)) {}

  // Runs words[0] = "docker" with its arguments. Code::usage for a malformed address, Code::unreachable and
  // Code::unauthenticated when the other machine cannot be reached or refuses the login, Code::not_found
  // where there is no docker program.
  Result<ProcessResult> run(const std::vector<std::string>& words);

 private:
  Result<ProcessResult> run_local(std::vector<std::string> argv) const;
  Result<ProcessResult> run_with_ssh_program(const std::vector<std::string>& words) const;
  Result<ProcessResult> run_with_libssh2(const std::vector<std::string>& words);

  DockerHost host_;
  std::optional<SshSession> session_;
};

}  // namespace dash::net
