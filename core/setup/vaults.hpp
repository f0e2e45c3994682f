// Registered secret vaults: the ids that a named vault reference (scheme://vault/name) may carry. Pointers
// are never resolved here. Thread-safe.
#pragma once
#include <string>
#include <vector>

#include "core/audit/log.hpp"

namespace dash::setup {

struct Vault {
  std::string id;
  std::string backend;  // aws_sm, azure_kv, gcp_sm, bt_safe or wlc: the reference's scheme
  Time created_at;
  std::string created_by;
};

class Vaults {
 public:
  Vaults(db::Sql& sql, const Clock& clock, audit::Log& audit) : sql_(sql), clock_(clock), audit_(audit) {}
  Result<std::vector<Vault>> list(const Principal& principal);
  // Code::invalid for an unknown backend or an id that no reference could carry, Code::conflict when it is
  // already registered.
  Result<Vault> add(const Principal& principal, const std::string& id, const std::string& backend);
  // Removes the vault; with `backend` empty, of every backend. Code::not_found.
  Result<void> remove(const Principal& principal, const std::string& id, const std::string& backend);

 private:
  db::Sql& sql_;
  const Clock& clock_;
  audit::Log& audit_;
};

OrderedJson to_json(const Vault& vault);

}  // namespace dash::setup
