#include "core/net/ssh/docker_client.hpp"

#include <cstdlib>

#include "core/base/shell_word.hpp"

namespace dash::net {
namespace {

constexpr std::chrono::minutes kDeadline{10};
constexpr std::size_t kMaxOutput = 512u << 20;  // a bundle is read whole
constexpr int kSshFailed = 255;                 // ssh(1), exit status
constexpr int kNotFound = 127;                  // POSIX sh

// What docker and ssh need to find their configuration, agent and engine.
std::vector<std::string> passed_environment() {
  std::vector<std::string> env;
  for (auto name :
       {"PATH", "HOME", "USER", "LANG", "SSH_AUTH_SOCK", "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT",
        "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "COMPOSE_PROJECT_NAME", "COMPOSE_FILE"})
    if (const char* value = std::getenv(name)) env.push_back(fmt::format("{}={}", name, value));
  return env;
}

std::string command_line(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + shell_quote(word);
  return out;
}

std::vector<std::string> ssh_words(const DockerHost& where, const SshAddress& address,
                                   const std::vector<std::string>& words) {
  const auto& ssh = where.ssh;
  std::vector<std::string> out{
      "ssh", "-T",
      "-o",  "BatchMode=yes",
      "-o",  "ConnectTimeout=15",
      "-o",  ssh.accept_new_host ? "StrictHostKeyChecking=accept-new" : "StrictHostKeyChecking=yes"};
  if (!ssh.known_hosts_file.empty())
    out.insert(out.end(),
               {"-o", "UserKnownHostsFile=" + ssh.known_hosts_file, "-o", "GlobalKnownHostsFile=none"});
  if (!ssh.key_file.empty()) out.insert(out.end(), {"-i", ssh.key_file, "-o", "IdentitiesOnly=yes"});
  if (address.port != 0) out.insert(out.end(), {"-p", std::to_string(address.port)});
  if (!address.user.empty()) out.insert(out.end(), {"-l", address.user});
  out.insert(out.end(), {"--", address.host, command_line(words)});
  return out;
}

Failure ssh_failed(const std::string& host, const std::string& said) {
  auto has = [&](std::string_view what) { return said.find(what) != said.npos; };
  auto advice = has("HOST IDENTIFICATION HAS CHANGED") ? ""
                : has("Host key verification failed")
                    ? "Connect once with ssh to check the host's key, or pass --accept-new-host-key."
                : has("Permission denied")
                    ? "The ssh program is not let ask here: load the key into the agent, or leave out "
                      "--ssh-transport program."
                    : "";
  return fail(has("Permission denied") ? Code::unauthenticated : Code::unreachable, "{}: {}{}", host, said,
              advice);
}

}  // namespace

Result<Output> DockerClient::run(const std::vector<std::string>& words) {
  bool is_away = where_.host.starts_with("ssh://");
  if (is_away && where_.transport == SshTransport::library) return run_by_library(words);
  if (is_away) return run_by_program(words);
  auto argv = words;
  if (!where_.host.empty()) argv.insert(argv.begin() + 1, {"--host", where_.host});
  return run_here(std::move(argv));
}

Result<Output> DockerClient::run_here(std::vector<std::string> argv) const {
  auto program = find_program(argv[0]);
  if (!program)
    return fail(Code::not_found,
                "there is no {} program here; run this where there is one (on Windows in the Linux "
                "subsystem), or use --via http, which carries no secrets",
                argv[0]);
  argv[0] = *program;
  return run_child({std::move(argv), passed_environment(), ""}, "", kDeadline, kMaxOutput);
}

Result<Output> DockerClient::run_by_program(const std::vector<std::string>& words) const {
  auto address = TRY(parse_ssh_address(where_.host));
  auto output = TRY(run_here(ssh_words(where_, address, words)));
  if (output.exit.code == kSshFailed) return ssh_failed(where_.host, output.err);
  return output;
}

Result<Output> DockerClient::run_by_library(const std::vector<std::string>& words) {
  if (!session_) session_ = TRY(SshSession::open(TRY(parse_ssh_address(where_.host)), where_.ssh));
  auto output = TRY(session_->run(command_line(words), kDeadline, kMaxOutput));
  // Not what docker says when a program is not in the container.
  bool is_shell =
      output.err.find("OCI runtime") == std::string::npos && output.err.find("docker") != std::string::npos;
  if (output.exit.code == kNotFound && is_shell)
    return fail(Code::not_found, "there is no docker program on {}: {}", where_.host, output.err);
  return output;
}

}  // namespace dash::net
