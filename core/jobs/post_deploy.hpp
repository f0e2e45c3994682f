// Runs of assets that follow a deploy: `post_deploy` of its body. Assets, scope and digests are fixed when the
// deploy is requested. The jobs are made in the transaction that completes the deploy, so each exists once,
// whenever a worker dies. A run that fails shows with the deploy and does not fail it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/principal.hpp"
#include "core/db/sql.hpp"
#include "core/jobs/jobs.hpp"

namespace dash::jobs {

inline constexpr std::size_t kMaxPostDeployRuns = 10;

// The member of a run's parameters that names the deploy and its outputs: {deploy_job_id, host_output,
// host_key_output, user}. The run reads them when it begins.
inline constexpr std::string_view kAfterDeploy = "after_deploy";

// One entry of `post_deploy`.
struct PostDeployEntry {
  std::string asset, asset_backend;
  std::string host_output;      // the deploy's output with the host's address
  std::string host_key_output;  // that with its public key; blank: the first contact pins the key
  std::string user;
  Json variables = Json::object();
};
// Code::validation that names the entry and its member. Null is an empty list.
Result<std::vector<PostDeployEntry>> read_post_deploy(const Json& entries);

// The job of a run, as it will be made.
struct PostDeployRun {
  std::optional<std::string> workgroup;
  Json request, parameters;
};

// Knows assets and runs; implemented by a later module. Thread-safe.
class PostDeployRuns {
 public:
  virtual ~PostDeployRuns() = default;
  // Returns the run of an entry for a deploy of this workgroup. Code::not_found for an asset that is neither
  // global nor of that workgroup, or that the caller may not use; Code::invalid for one that cannot be run.
  virtual Result<PostDeployRun> resolve(const Principal& principal,
                                        const std::optional<std::string>& workgroup,
                                        const PostDeployEntry& entry) = 0;
};

// Resolves the entries of an item: what rules and approvers see goes to `request`, the rest to `parameters`.
Result<void> add_post_deploy(PostDeployRuns* runs, const Principal& principal,
                             const std::optional<std::string>& workgroup, const Json& entries, Json& request,
                             Json& parameters);

// Leaves out of a deploy's parameters what is not for the program that carries it out.
Json without_post_deploy(Json parameters);

// Makes the runs of a deploy that has just completed, and links both ways.
Result<void> start_post_deploy(const Deps& deps, db::Transaction& tx, const Job& deploy);

}  // namespace dash::jobs
