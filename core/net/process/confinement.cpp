#include "core/net/process/confinement.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string_view>

#include "core/net/process/exec_child.hpp"
#include "core/net/process/landlock.hpp"
#include "core/net/process/truncate_filter.hpp"

namespace dash::net {
namespace {

// What name resolution, time zones, TLS, ssh and interpreters read of /etc. No file of it is secret.
constexpr std::string_view kSystemFiles[] = {"alternatives",
                                             "ca-certificates",
                                             "ca-certificates.conf",
                                             "crypto-policies",
                                             "debian_version",
                                             "gai.conf",
                                             "group",
                                             "host.conf",
                                             "hostname",
                                             "hosts",
                                             "inputrc",
                                             "ld.so.conf",
                                             "ld.so.conf.d",
                                             "locale.alias",
                                             "locale.conf",
                                             "localtime",
                                             "mime.types",
                                             "nsswitch.conf",
                                             "os-release",
                                             "passwd",
                                             "pki/ca-trust",
                                             "pki/tls/certs",
                                             "pki/tls/cert.pem",
                                             "pki/tls/openssl.cnf",
                                             "profile",
                                             "protocols",
                                             "resolv.conf",
                                             "services",
                                             "ssh/ssh_config",
                                             "ssh/ssh_config.d",
                                             "ssh/ssh_known_hosts",
                                             "ssl/certs",
                                             "ssl/openssl.cnf",
                                             "terminfo",
                                             "timezone",
                                             "xattr.conf"};

std::vector<std::string> system_files() {
  std::vector<std::string> out;
  for (auto name : kSystemFiles) out.push_back("/etc/" + std::string(name));
  // Debian's interpreters start with a file of /etc/python3.N.
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator("/etc", ec))
    if (entry.path().filename().string().starts_with("python3")) out.push_back(entry.path());
  return out;
}

const std::vector<std::string>& devices() {
  static const std::vector<std::string> kDevices = {"/dev/null", "/dev/tty", "/dev/ptmx", "/dev/pts"};
  return kDevices;
}

}  // namespace

Result<void> can_confine(std::optional<int> max_abi) {
  auto abi = std::min(landlock_abi(), max_abi.value_or(std::numeric_limits<int>::max()));
  if (abi >= kTruncateAbi || (abi > 0 && has_seccomp())) return {};
  return fail(Code::conflict,
              "nothing on this server keeps a run away from the instance's own files: its kernel {}. Use a "
              "newer kernel, or let runs go unconfined with `dashctl config set automation_unconfined true`",
              abi > 0 ? "has an old Landlock and no seccomp" : "has no Landlock");
}

Command confined(const Command& command, const Confinement& confinement, const std::string& launcher) {
  Sandbox sandbox;
  sandbox.unprivileged = false;
  sandbox.landlock = confinement.is_confined;
  sandbox.without_capabilities = confinement.is_confined;
  sandbox.allows_tcp = true;
  sandbox.max_abi = confinement.max_abi.value_or(std::numeric_limits<int>::max());
  sandbox.memory_bytes = confinement.memory_bytes;
  sandbox.supervised_stop_signal = confinement.stop_signal;
  sandbox.stop_grace = confinement.stop_grace;
  sandbox.work = confinement.work;
  if (confinement.is_confined) {
    sandbox.read = system_files();
    sandbox.run = confinement.read;
    sandbox.write = {"/dev/shm"};
    sandbox.devices = devices();
  }
  return sandboxed(command, sandbox, launcher);
}

}  // namespace dash::net
