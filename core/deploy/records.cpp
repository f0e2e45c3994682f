#include "core/deploy/records.hpp"

#include "core/crypto/hash.hpp"

namespace dash::deploy {
namespace {

// The names under which the parts are sealed: a row that was moved elsewhere does not open.
std::string module_name(const std::string& digest) { return "deploy module " + digest; }
std::string state_name(const std::string& job_id) { return "deploy state " + job_id; }
std::string outputs_name(const std::string& job_id) { return "deploy outputs " + job_id; }

}  // namespace

Result<void> Records::begin(const std::string& job_id, const std::string& action,
                            const ModuleFolder& module) {
  auto text = pack_module(module);
  auto digest = crypto::to_hex(crypto::sha256(text));
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    TRY(
        tx.exec("INSERT INTO deploy_modules (digest, module, kept_at) VALUES ($1, $2, $3) ON CONFLICT "
                "(digest) DO NOTHING",
                {digest, db::Blob{store_.seal(module_name(digest), text)}, to_micros(clock_.now())}));
    TRY(
        tx.exec("INSERT INTO deploy_states (job_id, action, module_digest) VALUES ($1, $2, $3) ON CONFLICT "
                "(job_id) DO NOTHING",
                {job_id, action, digest}));
    return {};
  });
}

Result<std::optional<DeployRecord>> Records::find(const std::string& job_id) {
  return db::read<std::optional<DeployRecord>>(
      sql_, [&](db::Transaction& tx) -> Result<std::optional<DeployRecord>> {
        auto rows = TRY(tx.query(R"(SELECT action, module_digest, resources, lock_id,
                                      CASE WHEN errored IS NULL THEN CAST(0 AS BIGINT) ELSE CAST(1 AS BIGINT) END
                                    FROM deploy_states WHERE job_id = $1)",
                                 {job_id}));
        if (rows.empty()) return std::nullopt;
        const auto& row = rows[0];
        return DeployRecord{job_id,         row.text(0), row.text(1),
                            row.integer(2), row.text(3), row.integer(4) != 0};
      });
}

Result<bool> Records::has_resources(const std::string& action) {
  return db::read<bool>(sql_, [&](db::Transaction& tx) -> Result<bool> {
    return !TRY(tx.query("SELECT 1 FROM deploy_states WHERE action = $1 AND resources > 0 LIMIT 1", {action}))
                .empty();
  });
}

Result<ModuleFolder> Records::module(const DeployRecord& record) {
  auto sealed = TRY(db::read<std::string>(sql_, [&](db::Transaction& tx) -> Result<std::string> {
    auto rows = TRY(tx.query("SELECT module FROM deploy_modules WHERE digest = $1", {record.module_digest}));
    if (rows.empty()) return fail(Code::not_found, "the module of job {} was not kept", record.job_id);
    return rows[0].blob(0);
  }));
  auto text = TRY(store_.open(module_name(record.module_digest), sealed));
  if (crypto::to_hex(crypto::sha256(text)) != record.module_digest)
    return fail(Code::integrity, "the module of job {} is damaged", record.job_id);
  return unpack_module(text);
}

Result<void> Records::update(const std::string& job_id, std::string_view column, db::Value value) {
  return sql_.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec(fmt::format("UPDATE deploy_states SET {} = $2 WHERE job_id = $1", column), {job_id, value}));
    return {};
  });
}

Result<void> Records::set_resources(const std::string& job_id, std::int64_t count) {
  return update(job_id, "resources", count);
}

Result<void> Records::set_lock(const std::string& job_id, const std::string& lock_id) {
  return update(job_id, "lock_id", lock_id);
}

Result<void> Records::set_outputs(const std::string& job_id, const std::string& outputs) {
  return update(job_id, "outputs", db::Blob{store_.seal(outputs_name(job_id), outputs)});
}

Result<void> Records::set_errored_state(const std::string& job_id, const std::optional<std::string>& state) {
  if (!state) return update(job_id, "errored", nullptr);
  return update(job_id, "errored", db::Blob{store_.seal(state_name(job_id), *state)});
}

Result<std::optional<std::string>> Records::errored_state(const std::string& job_id) {
  auto sealed = TRY(db::read<std::optional<std::string>>(
      sql_, [&](db::Transaction& tx) -> Result<std::optional<std::string>> {
        auto rows = TRY(tx.query("SELECT errored FROM deploy_states WHERE job_id = $1", {job_id}));
        if (rows.empty() || rows[0].is_null(0)) return std::nullopt;
        return rows[0].blob(0);
      }));
  if (!sealed) return std::nullopt;
  return TRY(store_.open(state_name(job_id), *sealed));
}

Result<std::vector<std::string>> Records::errored_jobs() {
  return db::read<std::vector<std::string>>(
      sql_, [](db::Transaction& tx) -> Result<std::vector<std::string>> {
        std::vector<std::string> out;
        for (const auto& row :
             TRY(tx.query("SELECT job_id FROM deploy_states WHERE errored IS NOT NULL ORDER BY job_id")))
          out.push_back(row.text(0));
        return out;
      });
}

}  // namespace dash::deploy
