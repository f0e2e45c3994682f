// The docker client, here or on another machine. Away, it is run through the `ssh` program, which brings the
// operator's agent, keys, configuration and known hosts along. Used by core/migrate/docker.
#pragma once
#include <string>
#include <vector>

#include "core/net/child.hpp"

namespace dash::net {

struct DockerHost {
  std::string host = {};  // empty: this machine; ssh://[user@]host[:port]; else as `docker --host` takes it
  std::string key_file = {};  // for ssh; empty: what ssh itself finds
  std::string known_hosts_file = {};
  bool accept_new_host = false;  // an unknown host's key is taken and remembered; a changed one never
};

// Runs words[0] = "docker" with its arguments. Code::invalid for an address that is none, Code::unreachable
// when the other machine cannot be reached or does not know us, with what ssh says.
Result<Output> run_docker(const DockerHost& where, const std::vector<std::string>& words);

// A word as a POSIX shell must be given it.
std::string shell_quote(std::string_view word);

}  // namespace dash::net
