// What a run is made of, whoever carries it out: the hosts of its job and of those of its group, with their
// secrets, and the variables. Read from the jobs' sealed parameters.
#pragma once
#include <optional>
#include <vector>

#include "core/automation/ansible_command.hpp"
#include "core/automation/run_tracker.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/config/settings.hpp"

namespace dash::automation {

struct RunInput {
  AnsibleRequest request;
  std::vector<TrackedHost> tracked;
  std::optional<std::size_t> max_failures;
};

// `parameters` are the opened ones of `job`. Code::integrity when a job has no hosts.
Result<RunInput> read_run_input(const config::EncryptedStore& store, const jobs::Job& job,
                                const Json& parameters, const jobs::GroupRun& group);
// The hosts of one job.
Result<std::vector<Host>> hosts_of_parameters(const Json& parameters);
// The member, or an empty object where it is none.
Json object_member(const Json& object, const char* name);

// `automation_timeout_seconds`: how long a run may take; at least 1.
Result<std::int64_t> timeout_seconds(config::Settings& settings);

// Fails the jobs of the group and returns the result of the leader.
jobs::RunResult fail_all(jobs::GroupRun& group, const std::string& error, const std::string& reason);
// Why a run must end now, when it must: a user cancelled a job of it, or this process ends.
std::optional<RunEnd::How> stop_cause(db::Sql& sql, const jobs::Job& job, const jobs::RunControl& control,
                                      const jobs::GroupRun& group);

}  // namespace dash::automation
