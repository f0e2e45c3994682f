// The host of a run that follows a deploy (`post_deploy`): its address and key are outputs of that deploy, which
// are read when the run begins.
#pragma once
#include "core/automation/hosts.hpp"
#include "core/jobs/job.hpp"
#include "core/jobs/runner.hpp"

namespace dash::automation {

struct DeployHostDeps {
  db::Sql& sql;
  Hosts& hosts;
};

// Takes the members by which ansible connects (ansible_port, ansible_password, …) out of the variables of an
// entry: {port, connection, secret}. Code::unprocessable for a secret that no log could hide.
Result<Json> take_connection(Json& variables);

// Returns the resolved host of a run. `after` is the member jobs::kAfterDeploy of its parameters, `variables` are
// those of the run. An output that names a kept host of the deploy's workgroup, or its address, takes that host's
// login. Without a key the first contact pins the one that the host shows, for all runs of this deploy, and logs
// its fingerprint. An error is a sentence for the job.
Result<Host> find_deploy_host(const DeployHostDeps& deps, const jobs::Job& run, const Json& after,
                              const RunNeeds& needs, jobs::RunControl& control);

}  // namespace dash::automation
