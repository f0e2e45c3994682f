#include "core/net/docker_client.hpp"

#include <algorithm>
#include <cstdlib>

namespace dash::net {
namespace {

constexpr std::chrono::minutes kDeadline{10};
constexpr std::size_t kMaxOutput = 512u << 20;  // a bundle is read whole
constexpr int kSshFailed = 255;                 // ssh(1), exit status

// What docker and ssh need to find their configuration, agent and engine.
std::vector<std::string> passed_environment() {
  std::vector<std::string> env;
  for (auto name :
       {"PATH", "HOME", "USER", "LANG", "SSH_AUTH_SOCK", "DOCKER_HOST", "DOCKER_CONFIG", "DOCKER_CONTEXT",
        "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "COMPOSE_PROJECT_NAME", "COMPOSE_FILE"})
    if (const char* value = std::getenv(name)) env.push_back(fmt::format("{}={}", name, value));
  return env;
}

struct SshAddress {
  std::string user_and_host, port;
};

Result<SshAddress> parse_ssh(std::string_view url) {
  auto bad = [&] { return fail(Code::usage, "'{}' is not of the form ssh://user@host[:port]", url); };
  auto rest = url.substr(std::string_view("ssh://").size());
  auto host = rest.substr(rest.find('@') == rest.npos ? 0 : rest.find('@') + 1);
  SshAddress out{std::string(rest), ""};
  if (auto colon = host.rfind(':'); colon != host.npos) {
    out.port = host.substr(colon + 1);
    out.user_and_host = rest.substr(0, rest.size() - out.port.size() - 1);
    host = host.substr(0, colon);
    if (out.port.empty() || !std::ranges::all_of(out.port, [](char c) { return c >= '0' && c <= '9'; }))
      return bad();
  }
  // A leading '-' would be an option of ssh.
  auto plain = [](char c) { return static_cast<unsigned char>(c) > 32 && c != 127 && c != '/' && c != '\''; };
  if (host.empty() || out.user_and_host.starts_with('-') || !std::ranges::all_of(out.user_and_host, plain))
    return bad();
  return out;
}

Result<std::vector<std::string>> ssh_words(const DockerHost& where, const std::vector<std::string>& words) {
  auto address = TRY(parse_ssh(where.host));
  std::vector<std::string> out{
      "ssh", "-T",
      "-o",  "BatchMode=yes",
      "-o",  "ConnectTimeout=15",
      "-o",  where.accept_new_host ? "StrictHostKeyChecking=accept-new" : "StrictHostKeyChecking=yes"};
  if (!where.known_hosts_file.empty())
    out.insert(out.end(),
               {"-o", "UserKnownHostsFile=" + where.known_hosts_file, "-o", "GlobalKnownHostsFile=none"});
  if (!where.key_file.empty()) out.insert(out.end(), {"-i", where.key_file, "-o", "IdentitiesOnly=yes"});
  if (!address.port.empty()) out.insert(out.end(), {"-p", address.port});
  std::string command;
  for (const auto& word : words) command += (command.empty() ? "" : " ") + shell_quote(word);
  out.insert(out.end(), {"--", address.user_and_host, command});
  return out;
}

}  // namespace

std::string shell_quote(std::string_view word) {
  std::string out = "'";
  for (char c : word) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

Result<Output> run_docker(const DockerHost& where, const std::vector<std::string>& words) {
  bool away = where.host.starts_with("ssh://");
  auto argv = away ? TRY(ssh_words(where, words)) : words;
  if (!away && !where.host.empty()) argv.insert(argv.begin() + 1, {"--host", where.host});
  auto program = find_program(argv[0]);
  if (!program)
    return fail(Code::not_found,
                "there is no {} program here; run this where there is one (on Windows in the Linux "
                "subsystem), or use "
                "--via http, which carries no secrets",
                argv[0]);
  argv[0] = *program;
  auto output = TRY(run_child({argv, passed_environment(), ""}, "", kDeadline, kMaxOutput));
  if (away && output.exit.code == kSshFailed)
    return fail(Code::unreachable, "{}: {}{}", where.host, output.err,
                output.err.find("Host key verification failed") == std::string::npos
                    ? ""
                    : "Connect once with ssh to check the host's key, or pass --accept-new-host-key.");
  return output;
}

}  // namespace dash::net
