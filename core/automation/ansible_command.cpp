#include "core/automation/ansible_command.hpp"

#include <filesystem>

#include "core/automation/inventory.hpp"
#include "core/base/embedded.hpp"
#include "core/base/file.hpp"

namespace dash::automation {
namespace {

constexpr std::string_view kVariablesFile = "variables.json";
constexpr std::string_view kPluginSource = "core/automation/plugins/dashctl_events.py";
constexpr std::string_view kSystemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// Every text is what was sent: no template in a secret is evaluated.
Json run_variables(const AnsibleRequest& request) {
  auto out = request.extra_vars;
  for (const auto& [name, value] : request.secret_vars.items()) out[name] = {{"__ansible_unsafe", value}};
  return out;
}

Result<void> write_host_secrets(jobs::RunFolder& folder, const std::vector<Host>& hosts) {
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto& host = hosts[i];
    if (host.connection == Connection::winrm && !host.host_key.empty())
      TRY(folder.add_secret(certificate_file_name(i), host.host_key));
    if (host.connection != Connection::ssh || host.secret_kind != SecretKind::private_key) continue;
    // OpenSSH refuses a key whose last line has no end.
    auto key = host.secret.expose();
    if (!key.ends_with('\n')) key += '\n';
    TRY(folder.add_secret(key_file_name(i), key));
  }
  return {};
}

Result<void> write_work_file(const jobs::RunFolder& folder, std::string_view name, std::string_view bytes) {
  return write_file(fmt::format("{}/{}", folder.work(), name), bytes, 0600);
}

}  // namespace

Result<void> write_run_files(jobs::RunFolder& folder, const AnsibleRequest& request,
                             const WrapResult& wrapped) {
  for (const auto* name : {"home", "tmp", "plugins"}) TRY(make_folder(folder.work() + "/" + name, 0700));
  TRY(write_work_file(folder, "plugins/dashctl_events.py", embedded(kPluginSource).value_or("")));
  TRY(write_work_file(folder, "ansible.cfg", ""));
  if (!wrapped.playbook.empty()) TRY(write_work_file(folder, kPlaybookFile, wrapped.playbook));
  auto secrets = TRY(folder.secrets());
  TRY(folder.add_secret(kInventoryFile, dump_json(inventory_of(request.hosts, secrets))));
  TRY(folder.add_secret(kVariablesFile, dump_json(run_variables(request))));
  TRY(folder.add_secret(kKnownHostsFile, known_hosts_of(request.hosts)));
  TRY(folder.add_secret(kSshConfigFile, ssh_config_of(secrets)));
  return write_host_secrets(folder, request.hosts);
}

net::Command ansible_command(const AnsibleProgram& program, const std::string& work,
                             const std::string& secrets, const AnsibleRequest& request,
                             const WrapResult& wrapped) {
  auto secret_file = [&](std::string_view name) { return fmt::format("{}/{}", secrets, name); };
  net::Command out;
  out.argv = {program.path,
              "--inventory",
              secret_file(kInventoryFile),
              "--extra-vars",
              "@" + secret_file(kVariablesFile),
              "--forks",
              std::to_string(request.forks)};
  if (request.is_check) out.argv.emplace_back("--check");
  out.argv.push_back(fmt::format("{}/{}", work, kPlaybookFile));
  auto home = work + "/home", tmp = work + "/tmp";
  auto bin = std::filesystem::path(program.path).parent_path().string();
  out.env = {fmt::format("PATH={}:{}", bin, kSystemPath), "HOME=" + home, "TMPDIR=" + tmp, "LANG=C.UTF-8",
             "PYTHONDONTWRITEBYTECODE=1", "ANSIBLE_CONFIG=" + work + "/ansible.cfg",
             "ANSIBLE_HOME=" + home + "/.ansible", "ANSIBLE_LOCAL_TEMP=" + tmp,
             "ANSIBLE_CALLBACK_PLUGINS=" + work + "/plugins", "ANSIBLE_STDOUT_CALLBACK=dashctl_events",
             "ANSIBLE_INVENTORY_ENABLED=yaml", "ANSIBLE_INVENTORY_UNPARSED_FAILED=True", "ANSIBLE_NOCOLOR=1",
             "ANSIBLE_HOST_KEY_CHECKING=True",
             fmt::format("ANSIBLE_SSH_ARGS=-F \"{}\"", secret_file(kSshConfigFile)),
             // The other mechanism keeps the password in /dev/shm, which all runs share.
             "ANSIBLE_SSH_PASSWORD_MECHANISM=sshpass", "ANSIBLE_PIPELINING=True",
             "ANSIBLE_PYTHON_INTERPRETER=auto_silent", "ANSIBLE_RETRY_FILES_ENABLED=False",
             "ANSIBLE_DEPRECATION_WARNINGS=False", "DASHCTL_EVENTS_FD=3"};
  if (wrapped.shows_output) out.env.emplace_back("DASHCTL_SHOW_OUTPUT=1");
  out.cwd = work;
  out.has_report = true;
  return out;
}

std::vector<std::string> secrets_of(const AnsibleRequest& request) {
  std::vector<std::string> out;
  for (const auto& host : request.hosts)
    if (!host.secret.empty()) out.push_back(host.secret.expose());
  for (const auto& [name, value] : request.secret_vars.items())
    if (value.is_string()) out.push_back(value.get<std::string>());
  return out;
}

}  // namespace dash::automation
