// What the database keeps of built-in deploys: the module's version, the count of resources, the lock that a run
// holds, a state that could not be written, and the outputs. Modules, states and outputs are sealed.
// Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/config/encrypted_store.hpp"
#include "core/db/sql.hpp"
#include "core/deploy/module.hpp"

namespace dash::deploy {

struct DeployRecord {
  std::string job_id;
  std::string action;  // canonical
  std::string module_digest;
  std::int64_t resources = 0;
  std::string lock_id;
  bool has_errored_state = false;
};

class Records {
 public:
  Records(db::Sql& sql, const Clock& clock, const config::EncryptedStore& store)
      : sql_(sql), clock_(clock), store_(store) {}

  // Keeps the module of a deploy that begins. A deploy that was begun before keeps its first one.
  Result<void> begin(const std::string& job_id, const std::string& action, const ModuleFolder& module);
  Result<std::optional<DeployRecord>> find(const std::string& job_id);
  // Returns whether a deploy of this action has resources.
  Result<bool> has_resources(const std::string& action);
  // Code::integrity when the module cannot be opened, Code::not_found when it is not there.
  Result<ModuleFolder> module(const DeployRecord& record);

  Result<void> set_resources(const std::string& job_id, std::int64_t count);
  Result<void> set_lock(const std::string& job_id, const std::string& lock_id);
  Result<void> set_outputs(const std::string& job_id, const std::string& outputs);

  // A state that a program could not write; nullopt removes it.
  Result<void> set_errored_state(const std::string& job_id, const std::optional<std::string>& state);
  Result<std::optional<std::string>> errored_state(const std::string& job_id);
  // Returns the deploys with such a state.
  Result<std::vector<std::string>> errored_jobs();

 private:
  Result<void> update(const std::string& job_id, std::string_view column, db::Value value);
  db::Sql& sql_;
  const Clock& clock_;
  const config::EncryptedStore& store_;
};

}  // namespace dash::deploy
