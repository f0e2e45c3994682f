// The docker client, here or on another machine by SSH. Used by core/migrate/docker.
#pragma once
#include <string>
#include <vector>

#include "core/net/ssh/ssh.hpp"

namespace dash::net {

// What carries ssh:// addresses. The library asks for passphrases and passwords; the program brings the
// operator's ~/.ssh/config along (jump hosts, aliases, hardware keys, RSA keys) and asks nothing.
enum class SshTransport { library, program };

struct DockerHost {
  std::string host = {};  // empty: this machine; ssh://[user@]host[:port]; else as `docker --host` takes it
  SshTransport transport = SshTransport::library;
  SshOptions ssh = {};
};

// One machine's docker client; the connection to it is made once. One thread.
class DockerClient {
 public:
  explicit DockerClient(DockerHost host) : host_(std::move(host)) {}

  // Runs words[0] = "docker" with its arguments. Code::usage for an address that is none, Code::unreachable
  // and Code::unauthenticated when the other machine cannot be reached or does not know us, Code::not_found
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
