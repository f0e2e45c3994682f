// Rows of the jobs table, for the files of this module.
#pragma once
#include "core/config/encrypted_store.hpp"
#include "core/jobs/job.hpp"

namespace dash::jobs {

// Inserts the job with a new number. `parameters` may hold passwords of the machine, so they are sealed at
// rest.
Result<void> insert_job(db::Transaction& tx, const config::EncryptedStore& store, Job& job,
                        const Json& parameters);
Result<Json> open_parameters(const config::EncryptedStore& store, const Job& job);

Result<std::optional<Job>> find_job(db::Transaction& tx, const std::string& id);
// Replaces a member of the job's details; null removes it. Other members stay, whoever writes them.
Result<void> set_job_detail(db::Transaction& tx, const std::string& id, const std::string& member,
                            const OrderedJson& value);
// Code::not_found when there is none.
Result<Job> get_job(db::Transaction& tx, const std::string& id);

// Lines of a log that stay, whatever comes between them.
inline constexpr std::int64_t kKeptFirstLines = 10'000, kKeptLastLines = 10'000;
// Numbers the lines on from the last one. Lines between the first and the last ones that stay are dropped.
Result<void> append_log(db::Transaction& tx, const std::string& job_id, const std::vector<std::string>& lines,
                        Time now);

}  // namespace dash::jobs
