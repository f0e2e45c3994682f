// Rows of the jobs table that are read or written by more than one part of this room.
#pragma once
#include "core/config/encrypted_store.hpp"
#include "core/jobs/job.hpp"

namespace dash::jobs {

// Numbers the job. `parameters` may hold passwords of the thing that is built, so they are sealed at rest.
Result<void> insert_job(db::Transaction& tx, const config::EncryptedStore& store, Job& job,
                        const Json& parameters);
Result<Json> open_parameters(const config::EncryptedStore& store, const Job& job);

Result<std::optional<Job>> find_job(db::Transaction& tx, const std::string& id);
// Code::not_found when there is none.
Result<Job> get_job(db::Transaction& tx, const std::string& id);

Result<void> append_log(db::Transaction& tx, const std::string& job_id, const std::vector<std::string>& lines,
                        Time now);

}  // namespace dash::jobs
