#include "core/agent/remote/storage_jobs.hpp"

#include "core/base/log.hpp"

namespace dash::agent {
namespace {

// Where this agent's own secrets lie is no share.
storage::local::RootOptions root_options(const Settings& settings) {
  storage::local::RootOptions options;
  options.data_dir = settings.state_folder;
  options.secret_files = {settings.policy_file, settings.shares_file};
  return options;
}

bool is_change(StorageOp op) { return op == StorageOp::upload || op == StorageOp::remove; }

Result<Json> fetch(const StorageJob& job, ShareFiles& files) {
  auto fetched = files.fetch(job);
  if (!fetched && fetched.error().code == Code::not_found)
    return fail(Code::not_found, "{}there is no file '{}'", kFileNotFound, job.name);
  return to_json(TRY(std::move(fetched)));
}

}  // namespace

StorageJobs::StorageJobs(const Settings& settings, const Policy& policy, DashboardClient& dashboard,
                         const Clock& clock, std::string launcher)
    : settings_(settings),
      policy_(policy),
      dashboard_(dashboard),
      rules_(root_options(settings)),
      deps_{clock, rules_, std::move(launcher)} {}

Result<Json> StorageJobs::run(const LeasedJob& leased, JobContext& context) {
  auto job = TRY(read_storage_job(leased.payload));
  TRY(judge_share(policy_, job.share, job.op));
  if (settings_.is_audit && is_change(job.op))
    return fail(Code::policy_denied, "it runs in audit mode, in which nothing is changed");
  auto shares = load_shares(settings_.shares_file);
  if (!shares) {  // its text names paths of this machine
    log::error("agent.shares_unreadable", {{"error", shares.error().message}});
    return fail(Code::upstream, "the agent's shares file cannot be read; its log says why");
  }
  const auto* share = shares->find(job.share);
  if (!share) return fail(Code::upstream, "the agent's shares file has no share '{}'", job.share);
  auto password = TRY(password_of(*share, leased, context));
  ShareFiles files(*share, std::move(password), deps_);
  auto result = TRY(carry_out(job, files));
  result["audit_mode"] = settings_.is_audit;
  return result;
}

Result<Secret> StorageJobs::password_of(const Share& share, const LeasedJob& job, JobContext& context) {
  Secret password = share.password;
  if (share.has_dashboard_secret)
    password = TRY(dashboard_.secret(job.id, share.name));
  else if (password.expose().starts_with(kSealedPrefix))
    password = TRY(open_sealed_password(dashboard_.identity(), password.expose()));
  if (!password.empty()) context.secrets.push_back(password.expose());
  return password;
}

Result<Json> StorageJobs::carry_out(const StorageJob& job, ShareFiles& files) {
  switch (job.op) {
    case StorageOp::list:
      return to_json(TRY(files.list(job.subpath, job.cursor)));
    case StorageOp::fetch:
      return fetch(job, files);
    case StorageOp::upload:
      return to_json(TRY(files.upload(job)));
    case StorageOp::remove:
      return to_json(TRY(files.remove(job)));
  }
  return fail(Code::internal, "unreachable");
}

}  // namespace dash::agent
