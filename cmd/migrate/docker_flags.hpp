// The flags that lead to a container, on this machine or over SSH. Used by migrate export.
#pragma once
#include "cmd/cli/flags.hpp"
#include "cmd/cli/tree.hpp"
#include "core/migrate/docker.hpp"
#include "core/net/ssh/docker_client.hpp"

namespace dash::cmd {

struct DockerFlags {
  migrate::ContainerExportOptions container;
  net::DockerHost host;
  std::string service, transport;  // empty: the defaults
  std::string passphrase_file, password_file;

  // Returns whether any flag was given that is only valid in docker mode.
  bool is_given() const;
};

void declare_docker(Flags& flags, DockerFlags& into);

// Returns the host; prompts on the terminal for what the flags leave open.
net::DockerHost docker_host(Context& context, const DockerFlags& flags);

}  // namespace dash::cmd
