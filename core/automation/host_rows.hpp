// Rows of the table of kept hosts.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/automation/host.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/db/sql.hpp"

namespace dash::automation {

// A host whose secret is still sealed; empty without one.
struct HostRow {
  Host host;
  std::string sealed_secret;
};

Result<std::vector<HostRow>> select_hosts(db::Transaction& tx);  // by name
Result<std::optional<HostRow>> select_host(db::Transaction& tx, const std::string& name);
// Returns false when the name is taken.
Result<bool> insert_host(db::Transaction& tx, const config::EncryptedStore& store, const Host& host);
// Writes every member but the secret.
Result<void> update_host(db::Transaction& tx, const Host& host);
Result<void> update_host_secret(db::Transaction& tx, const config::EncryptedStore& store, const Host& host);

// Code::conflict, with what to do, for a secret that this instance's key does not open.
Result<Secret> open_host_secret(const config::EncryptedStore& store, const HostRow& row);

}  // namespace dash::automation
