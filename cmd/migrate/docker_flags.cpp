#include "cmd/migrate/docker_flags.hpp"

#include <algorithm>

#include "cmd/cli/printer.hpp"
#include "cmd/cli/secret_input.hpp"

namespace dash::cmd {
namespace {

constexpr int kAttempts = 3;  // at a prompt; a file is read once

// Declares a flag whose value becomes a word of docker's command line, where a leading hyphen would mean an
// option.
Flag& docker_word(Flags& flags, std::string name, std::string& into, std::string value, std::string help) {
  auto& flag = flags.text(name, into, std::move(value), std::move(help));
  flag.set = [name = std::move(name), take = std::move(flag.set)](const std::string& text) -> Result<void> {
    if (text.starts_with('-'))
      return fail(Code::usage, "the value of {} may not start with -, docker takes it for an option: '{}'",
                  name, text);
    return take(text);
  };
  return flag;
}

}  // namespace

bool DockerFlags::is_given() const {
  auto given = {&container.container, &container.compose_file, &container.data_dir,        &service,
                &host.host,           &host.ssh.key_file,      &host.ssh.known_hosts_file, &transport,
                &passphrase_file,     &password_file};
  return host.ssh.accept_new_host || std::ranges::any_of(given, [](auto* text) { return !text->empty(); });
}

void declare_docker(Flags& flags, DockerFlags& into) {
  constexpr auto kContainer = FlagGroup::container;
  auto& ssh = into.host.ssh;
  docker_word(flags, "--container", into.container.container, "NAME", "the container to enter")
      .in(kContainer)
      .excludes("--compose-file");
  docker_word(flags, "--compose-file", into.container.compose_file, "FILE",
              "compose file that names the container")
      .in(kContainer);
  docker_word(flags, "--service", into.service, "NAME", "its service in the compose file; app by default")
      .in(kContainer);
  docker_word(flags, "--container-data-dir", into.container.data_dir, "PATH",
              "data folder of dashctl in the container")
      .in(kContainer);
  flags
      .text("--docker-host", into.host.host, "URL",
            "ssh://user@host[:port], or another address that docker takes")
      .in(kContainer);
  flags
      .text("--ssh-transport", into.transport, "WHICH",
            "library prompts for passphrases and passwords; program is your ssh with its ~/.ssh/config, for "
            "jump hosts and RSA keys, and never prompts")
      .in(kContainer)
      .one_of({"library", "program"});
  flags
      .text("--ssh-key", ssh.key_file, "FILE",
            "private key for ssh://; by default those of the agent and of ~/.ssh")
      .in(kContainer);
  flags
      .text("--ssh-passphrase-file", into.passphrase_file, "FILE",
            "passphrase of the key, - for stdin; else a prompt")
      .in(kContainer);
  flags
      .text("--ssh-password-file", into.password_file, "FILE",
            "password to log in with instead of a key, - for stdin; without it a prompt when no key is "
            "accepted")
      .in(kContainer)
      .excludes("--ssh-key");
  flags
      .text("--known-hosts", ssh.known_hosts_file, "FILE",
            "host keys to trust instead of ~/.ssh/known_hosts and the system's")
      .in(kContainer);
  flags.toggle("--accept-new-host-key", ssh.accept_new_host, "accept the key of a host that is not known yet")
      .in(kContainer)
      .guard();
}

net::DockerHost docker_host(Context& context, const DockerFlags& flags) {
  auto host = flags.host;
  host.transport = flags.transport == "program" ? net::SshTransport::program : net::SshTransport::library;
  auto& ssh = host.ssh;
  ssh.only_password = !flags.password_file.empty();
  ssh.passphrase = [&context, file = flags.passphrase_file](const std::string& prompt) {
    return read_secret(context, file, prompt, "--ssh-passphrase-file");
  };
  ssh.password = [&context, file = flags.password_file](const std::string& prompt) {
    return read_secret(context, file, prompt, "--ssh-password-file");
  };
  ssh.passphrase_attempts = flags.passphrase_file.empty() ? kAttempts : 1;
  ssh.password_attempts = flags.password_file.empty() ? kAttempts : 1;
  ssh.note = [&context](const std::string& sentence) { context.out.note("{}", sentence); };
  return host;
}

}  // namespace dash::cmd
