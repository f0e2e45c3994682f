#include "core/automation/run_input.hpp"

#include "core/jobs/job_rows.hpp"

namespace dash::automation {
namespace {

constexpr std::int64_t kDefaultTimeoutSeconds = 3600;

Result<void> add_hosts(const Json& parameters, std::size_t job, RunInput& input) {
  for (auto& host : TRY(hosts_of_parameters(parameters))) {
    input.tracked.push_back({host.name, job});
    input.request.hosts.push_back(std::move(host));
  }
  return {};
}

// Whether a user stopped the job; otherwise this process ends.
bool has_cancel(db::Sql& sql, const jobs::Job& job) {
  auto cancelled = db::read<bool>(sql, [&](db::Transaction& tx) -> Result<bool> {
    return TRY(jobs::get_job(tx, job.id)).cancel_requested;
  });
  return cancelled && *cancelled;
}

}  // namespace

Json object_member(const Json& object, const char* name) {
  auto it = object.find(name);
  return it != object.end() && it->is_object() ? *it : Json::object();
}

Result<std::int64_t> timeout_seconds(config::Settings& settings) {
  return settings.integer("automation_timeout_seconds", kDefaultTimeoutSeconds);
}

Result<std::vector<Host>> hosts_of_parameters(const Json& parameters) {
  auto hosts = parameters.find("hosts");
  if (hosts == parameters.end() || !hosts->is_array()) return fail(Code::integrity, "the job has no hosts");
  std::vector<Host> out;
  for (const auto& entry : *hosts) out.push_back(TRY(host_of_parameters(entry)));
  return out;
}

Result<RunInput> read_run_input(const config::EncryptedStore& store, const jobs::Job& job,
                                const Json& parameters, const jobs::GroupRun& group) {
  RunInput input;
  auto& request = input.request;
  request.extra_vars = object_member(parameters, "extra_vars");
  request.secret_vars = object_member(parameters, "secret_vars");
  request.is_check = job.request.value("check", false);
  request.forks = job.request.value("forks", request.forks);
  if (auto it = job.request.find("max_failures"); it != job.request.end())
    input.max_failures = it->get<std::size_t>();
  TRY(add_hosts(parameters, 0, input));
  for (std::size_t i = 0; i < group.size(); ++i)
    TRY(add_hosts(TRY(jobs::open_parameters(store, group.job(i))), i + 1, input));
  return input;
}

jobs::RunResult fail_all(jobs::GroupRun& group, const std::string& error, const std::string& reason) {
  jobs::RunResult result{jobs::RunStatus::failed, error, reason};
  for (std::size_t i = 0; i < group.size(); ++i) std::ignore = group.finish(i, result);
  return result;
}

std::optional<RunEnd::How> stop_cause(db::Sql& sql, const jobs::Job& job, const jobs::RunControl& control,
                                      const jobs::GroupRun& group) {
  if (control.should_stop()) return has_cancel(sql, job) ? RunEnd::How::cancelled : RunEnd::How::stopped;
  if (group.is_cancelled()) return RunEnd::How::cancelled;
  return std::nullopt;
}

}  // namespace dash::automation
