// The flags that lead into a container, on this machine or behind SSH. Used by migrate export.
#pragma once
#include "cmd/cli/flags.hpp"
#include "cmd/cli/tree.hpp"
#include "core/migrate/docker.hpp"
#include "core/net/ssh/docker_client.hpp"

namespace dash::cmd {

struct DockerFlags {
  migrate::ContainerExportOptions container;
  net::DockerHost host;
  std::string transport = "library";
  std::string passphrase_file, password_file;

  // Whether any of them was given that makes sense in docker mode only.
  bool has_container() const;
};

void declare_docker(Flags& flags, DockerFlags& into);

// With the questions that the flags leave open asked on the terminal.
net::DockerHost docker_host(Context& context, const DockerFlags& flags);

}  // namespace dash::cmd
