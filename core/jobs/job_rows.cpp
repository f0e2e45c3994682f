#include "core/jobs/job_rows.hpp"

#include "core/base/utf8.hpp"

namespace dash::jobs {
namespace {

db::Value value_of(const std::optional<std::string>& text) {
  return text ? db::Value(*text) : db::Value(nullptr);
}
db::Value value_of(const std::optional<Time>& time) {
  return time ? db::Value(to_micros(*time)) : db::Value(nullptr);
}
db::Value value_of(bool flag) { return std::int64_t{flag}; }

std::string sealing_context(const std::string& id) { return "job parameters " + id; }

}  // namespace

Result<void> insert_job(db::Transaction& tx, const config::EncryptedStore& store, Job& job,
                        const Json& parameters) {
  job.seq = TRY(tx.query("SELECT coalesce(max(seq), 0) + 1 FROM jobs"))[0].integer(0);
  job.parameters = store.seal(sealing_context(job.id), dump_json(parameters));
  TRY(tx.exec(
      R"(INSERT INTO jobs
           (id, seq, action, receipt, workgroup, name, region, resource_id, batch_id, request, parameters,
            state, message, created_at, created_by, created_by_admin,
            run_at, window_ends_at, change_window_id, needs_policy_approval, needs_booking_approval,
            approval_reasons, approval_digest, approval_expires_at, details, attempts, cancel_requested)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,
           $12, '', $13, $14, $15,
           $16, $17, $18, $19, $20,
           $21, $22, $23, $24, 0, 0))",
      {job.id,
       job.seq,
       job.action,
       job.receipt,
       value_of(job.workgroup),
       job.name,
       job.region,
       value_of(job.resource_id),
       value_of(job.batch_id),
       dump_json(job.request),
       db::Blob{job.parameters},
       std::string(word(job.state)),
       to_micros(job.created_at),
       job.created_by,
       value_of(job.created_by_admin),
       value_of(job.run_at),
       value_of(job.window_ends_at),
       value_of(job.change_window_id),
       value_of(job.needs_policy_approval),
       value_of(job.needs_booking_approval),
       dump_json(Json(job.approval_reasons)),
       job.approval_digest,
       value_of(job.approval_expires_at),
       job.details.empty() ? db::Value(nullptr) : db::Value(dump_json(job.details))}));
  return {};
}

Result<Json> open_parameters(const config::EncryptedStore& store, const Job& job) {
  return parse_json(TRY(store.open(sealing_context(job.id), job.parameters)));
}

Result<std::optional<Job>> find_job(db::Transaction& tx, const std::string& id) {
  auto rows = TRY(tx.query(kSelectJobs + "WHERE id = $1", {id}));
  if (rows.empty()) return std::nullopt;
  return TRY(row_to_job(rows[0]));
}

Result<Job> get_job(db::Transaction& tx, const std::string& id) {
  auto job = TRY(find_job(tx, id));
  if (!job) return fail(Code::not_found, "there is no job '{}'", id);
  return *std::move(job);
}

Result<void> set_job_detail(db::Transaction& tx, const std::string& id, const std::string& member,
                            const OrderedJson& value) {
  auto rows = TRY(tx.query(
      fmt::format("SELECT details FROM jobs WHERE id = $1 {}", tx.is_postgres() ? "FOR UPDATE" : ""), {id}));
  if (rows.empty()) return fail(Code::not_found, "there is no job '{}'", id);
  OrderedJson details = OrderedJson::object();
  if (!rows[0].is_null(0)) details = OrderedJson(TRY(parse_json(rows[0].text(0))));
  value.is_null() ? static_cast<void>(details.erase(member)) : static_cast<void>(details[member] = value);
  TRY(tx.exec("UPDATE jobs SET details = $2 WHERE id = $1", {id, dump_json(details)}));
  return {};
}

Result<void> append_log(db::Transaction& tx, const std::string& job_id, const std::vector<std::string>& lines,
                        Time now) {
  auto n =
      TRY(tx.query("SELECT coalesce(max(n), 0) FROM job_logs WHERE job_id = $1", {job_id}))[0].integer(0);
  for (const auto& line : lines)
    TRY(tx.exec("INSERT INTO job_logs (job_id, n, at, line) VALUES ($1, $2, $3, $4)",
                {job_id, ++n, to_micros(now), to_utf8(line)}));
  if (!lines.empty() && n > kKeptFirstLines + kKeptLastLines)
    TRY(tx.exec("DELETE FROM job_logs WHERE job_id = $1 AND n > $2 AND n <= $3",
                {job_id, kKeptFirstLines, n - kKeptLastLines}));
  return {};
}

}  // namespace dash::jobs
