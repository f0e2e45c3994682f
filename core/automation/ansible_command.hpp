// What ansible is started with: its folders, files, arguments and environment. No secret is in an argument or in
// the environment; those that it needs are files of the run's secrets.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/automation/ansible.hpp"
#include "core/automation/host.hpp"
#include "core/automation/wrap.hpp"
#include "core/jobs/run_folder.hpp"
#include "core/net/process/child.hpp"

namespace dash::automation {

struct AnsibleRequest {
  std::vector<Host> hosts;
  Json extra_vars = Json::object();
  Json secret_vars = Json::object();
  bool is_check = false;
  std::int64_t forks = 5;  // as ansible's own default
};

// Writes what the run needs beside its asset into the two folders.
Result<void> write_run_files(jobs::RunFolder& folder, const AnsibleRequest& request,
                             const WrapResult& wrapped);
// `secrets` is the path of the run's secrets folder, which has the files already.
net::Command ansible_command(const AnsibleProgram& program, const std::string& work,
                             const std::string& secrets, const AnsibleRequest& request,
                             const WrapResult& wrapped);
// Every secret of the request: what a log must not show.
std::vector<std::string> secrets_of(const AnsibleRequest& request);

}  // namespace dash::automation
