#include "core/automation/inventory.hpp"

#include <algorithm>

namespace dash::automation {
namespace {

// How ansible writes a text that it must not take for a template.
Json unsafe(std::string_view text) { return {{"__ansible_unsafe", text}}; }

// Each host's key counts for that host alone, also where several have one address.
std::string key_alias(std::size_t number) { return fmt::format("dashctl-host-{}", number); }

void add_ssh(Json& variables, const Host& host, std::size_t number, const std::string& key_file) {
  variables["ansible_ssh_common_args"] = "-o HostKeyAlias=" + key_alias(number);
  if (host.secret_kind == SecretKind::private_key) variables["ansible_ssh_private_key_file"] = key_file;
}

void add_winrm(Json& variables, const Host& host, const std::string& certificate_file) {
  variables["ansible_winrm_scheme"] = "https";
  // Windows takes Basic only where an administrator has allowed it.
  variables["ansible_winrm_transport"] = {"ntlm", "ssl"};
  variables["ansible_winrm_server_cert_validation"] = "validate";
  if (!host.host_key.empty()) variables["ansible_winrm_ca_trust_path"] = certificate_file;
}

Json variables_of(const Host& host, std::size_t number, const std::string& folder) {
  auto variables = host.variables;
  variables["ansible_connection"] = word(host.connection);
  if (host.connection == Connection::local) {
    // The interpreter that runs ansible can run its modules; others on this machine may not.
    variables.emplace("ansible_python_interpreter", "{{ ansible_playbook_python }}");
    // Ansible's own choice is below the account's home, which a confined run cannot write.
    variables["ansible_remote_tmp"] = "{{ lookup('ansible.builtin.env', 'HOME') }}/.ansible/tmp";
    return variables;
  }
  variables["ansible_host"] = unsafe(host.address);
  variables["ansible_port"] = host.port;
  if (!host.user.empty()) variables["ansible_user"] = unsafe(host.user);
  if (host.secret_kind == SecretKind::password) variables["ansible_password"] = unsafe(host.secret.expose());
  if (host.connection == Connection::ssh)
    add_ssh(variables, host, number, folder + "/" + key_file_name(number));
  else
    add_winrm(variables, host, folder + "/" + certificate_file_name(number));
  return variables;
}

}  // namespace

std::string key_file_name(std::size_t host) { return fmt::format("key-{}", host); }
std::string certificate_file_name(std::size_t host) { return fmt::format("certificates-{}.pem", host); }

Json inventory_of(std::span<const Host> hosts, const std::string& folder) {
  Json all = Json::object(), groups = Json::object();
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    all[hosts[i].name] = variables_of(hosts[i], i, folder);
    for (const auto& group : hosts[i].groups) groups[group]["hosts"][hosts[i].name] = nullptr;
  }
  return {{"all", {{"hosts", std::move(all)}, {"children", std::move(groups)}}}};
}

std::string known_hosts_of(std::span<const Host> hosts) {
  std::string out;
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (hosts[i].connection == Connection::ssh && !hosts[i].host_key.empty())
      out += fmt::format("{} {}\n", key_alias(i), hosts[i].host_key);
  return out;
}

std::string ssh_config_of(const std::string& folder) {
  return fmt::format(
      R"(Host *
  StrictHostKeyChecking yes
  UserKnownHostsFile "{0}/{1}"
  GlobalKnownHostsFile /dev/null
  UpdateHostKeys no
  CheckHostIP no
  HashKnownHosts no
  IdentitiesOnly yes
  IdentityAgent none
  IdentityFile none
  ForwardAgent no
  ControlMaster no
  ControlPath none
  LogLevel ERROR
  ConnectTimeout 20
  ServerAliveInterval 30
  ServerAliveCountMax 4
)",
      folder, kKnownHostsFile);
}

}  // namespace dash::automation
