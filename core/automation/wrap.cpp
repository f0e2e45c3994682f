#include "core/automation/wrap.hpp"

#include <algorithm>

namespace dash::automation {
namespace {

constexpr std::size_t kMaxPlainName = 100;
constexpr std::size_t kMaxProject = 63;

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// The same module takes shell scripts and, over WinRM, PowerShell scripts.
constexpr std::string_view kScript = R"(- name: Run {name}
  hosts: all
  gather_facts: false
  tasks:
    - name: Run {name}
      ansible.builtin.script:
        cmd: {file}
)";

constexpr std::string_view kPackage = R"(- name: Install {name}
  hosts: all
  gather_facts: {facts}
  tasks:
    - name: Make a folder for the package
      ansible.builtin.tempfile:
        state: directory
        prefix: dashctl-
      register: dashctl_folder
      changed_when: false
    - name: Copy and install
      when: dashctl_folder.path is defined
      block:
        - name: Copy {name}
          ansible.builtin.copy:
            src: {file}
            dest: "{{{{ dashctl_folder.path }}}}/{file}"
            mode: "0644"
        - name: Install {name}
          become: true
          {module}
      always:
        - name: Remove the folder
          ansible.builtin.file:
            path: "{{{{ dashctl_folder.path }}}}"
            state: absent
          changed_when: false
)";

constexpr std::string_view kDeb = R"(ansible.builtin.apt:
            deb: "{{ dashctl_folder.path }}/asset.deb")";
// The package is the one that an operator uploaded; a key would say nothing more. A host whose own manager is
// another one, such as Debian, has the dnf of its distribution.
constexpr std::string_view kRpm = R"(ansible.builtin.dnf:
            name: "{{ dashctl_folder.path }}/asset.rpm"
            state: present
            use_backend: "{{ 'auto' if ansible_facts.pkg_mgr in ['dnf', 'dnf5'] else 'dnf4' }}"
            disable_gpg_check: true)";

constexpr std::string_view kCompose = R"(- name: Start {project}
  hosts: all
  gather_facts: false
  tasks:
    - name: Make the folder of the project
      ansible.builtin.file:
        path: .dashctl/compose/{project}
        state: directory
        mode: "0700"
    - name: Copy {name}
      ansible.builtin.copy:
        src: {file}
        dest: .dashctl/compose/{project}/compose.yml
        mode: "0600"
    - name: Start the project
      ansible.builtin.command:
        argv: [docker, compose, --project-name, "{project}", --file, compose.yml, up, --detach]
        chdir: .dashctl/compose/{project}
)";

}  // namespace

std::string plain_name(std::string_view text) {
  std::string out(text.substr(0, kMaxPlainName));
  for (auto& c : out)
    if (!is_alphanumeric(c) && c != '.' && c != '-') c = '_';
  return out;
}

WrapResult wrap(std::string_view type, std::string_view asset) {
  auto name = plain_name(asset);
  WrapResult out;
  if (type == "script" || type == "powershell") {
    out.asset_file = type == "script" ? "asset.sh" : "asset.ps1";
    out.shows_output = true;
    out.playbook = fmt::format(kScript, fmt::arg("name", name), fmt::arg("file", out.asset_file));
  } else if (type == "deb" || type == "rpm") {
    out.asset_file = type == "deb" ? "asset.deb" : "asset.rpm";
    out.becomes = true;
    // Which package manager the host has is a fact.
    out.playbook =
        fmt::format(kPackage, fmt::arg("name", name), fmt::arg("file", out.asset_file),
                    fmt::arg("facts", type == "rpm"), fmt::arg("module", type == "deb" ? kDeb : kRpm));
  } else {
    out.asset_file = kPlaybookFile;
  }
  return out;
}

WrapResult wrap_compose(std::string_view asset, std::string_view project) {
  WrapResult out;
  out.asset_file = "asset.yml";
  out.shows_output = true;
  out.playbook = fmt::format(kCompose, fmt::arg("name", plain_name(asset)), fmt::arg("project", project),
                             fmt::arg("file", out.asset_file));
  return out;
}

Result<void> check_project(std::string_view project) {
  bool is_plain = std::ranges::all_of(project, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (is_plain && !project.empty() && project.size() <= kMaxProject && is_alphanumeric(project.front()))
    return {};
  return fail(Code::invalid,
              "project is 1 to {} lower-case letters, digits, '-' and '_', with a letter or digit first",
              kMaxProject);
}

}  // namespace dash::automation
