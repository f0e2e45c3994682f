#include "core/net/ssh/docker_client.hpp"

#include <cstdlib>

#include "core/base/shell_word.hpp"
#include "core/net/process/find_program.hpp"

namespace dash::net {
namespace {

constexpr std::chrono::minutes kRunTimeout{10};
constexpr std::size_t kMaxOutput = 512u << 20;  // a bundle is read whole
constexpr int kSshFailed = 255;                 // ssh(1), exit status
constexpr int kNotFound = 127;                  // POSIX sh

// What docker and ssh need to find their configuration, agent and engine.
std::vector<std::string> client_environment() {
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

std::vector<std::string> ssh_command(const DockerHost& docker_host, const SshAddress& address,
                                     const std::vector<std::string>& words) {
  const auto& ssh = docker_host.ssh;
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

Failure ssh_error(const std::string& host, const std::string& error_text) {
  auto has = [&](std::string_view what) { return error_text.find(what) != error_text.npos; };
  auto advice = has("HOST IDENTIFICATION HAS CHANGED") ? ""
                : has("Host key verification failed")
                    ? "Connect once with ssh to check the host's key, or pass --accept-new-host-key."
                : has("Permission denied")
                    ? "The ssh program is not let ask here: load the key into the agent, or leave out "
                      "--ssh-transport program."
                    : "";
  return fail(has("Permission denied") ? Code::unauthenticated : Code::unreachable, "{}: {}{}", host,
              error_text, advice);
}

}  // namespace

Result<ProcessResult> DockerClient::run(const std::vector<std::string>& words) {
  bool is_remote = host_.host.starts_with("ssh://");
  if (is_remote && host_.transport == SshTransport::library) return run_with_libssh2(words);
  if (is_remote) return run_with_ssh_program(words);
  auto argv = words;
  if (!host_.host.empty()) argv.insert(argv.begin() + 1, {"--host", host_.host});
  return run_local(std::move(argv));
}

Result<ProcessResult> DockerClient::run_local(std::vector<std::string> argv) const {
  auto program = find_program(argv[0]);
  if (!program)
    return fail(Code::not_found,
                "there is no {} program here; run this where there is one (on Windows in the Linux "
                "subsystem), or use --via http, which carries no secrets",
                argv[0]);
  argv[0] = *program;
  return run_child({std::move(argv), client_environment(), ""}, "", kRunTimeout, kMaxOutput);
}

Result<ProcessResult> DockerClient::run_with_ssh_program(const std::vector<std::string>& words) const {
  auto address = TRY(parse_ssh_address(host_.host));
  auto output = TRY(run_local(ssh_command(host_, address, words)));
  if (output.exit.code == kSshFailed) return ssh_error(host_.host, output.err);
  return output;
}

Result<ProcessResult> DockerClient::run_with_libssh2(const std::vector<std::string>& words) {
  if (!session_) session_ = TRY(SshSession::open(TRY(parse_ssh_address(host_.host)), host_.ssh));
  auto output = TRY(session_->run(command_line(words), kRunTimeout, kMaxOutput));
  // Differs from docker's message for a program that is missing in the container.
  bool is_shell =
      output.err.find("OCI runtime") == std::string::npos && output.err.find("docker") != std::string::npos;
  if (output.exit.code == kNotFound && is_shell)
    return fail(Code::not_found, "there is no docker program on {}: {}", host_.host, output.err);
  return output;
}

}  // namespace dash::net
