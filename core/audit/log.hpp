// The append-only, hash-chained audit log (DESIGN §5). An entry is appended in the transaction that it
// records, and no answer leaves before that transaction is durable. One head row, sealed by a key outside of
// the database, says how long the log is.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "core/audit/merkle.hpp"
#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/base/principal.hpp"
#include "core/base/secret.hpp"
#include "core/crypto/keys.hpp"
#include "core/db/sql.hpp"

namespace dash::audit {

struct Event {
  std::string username;
  std::string action;  // "cloud1:vm:deploy:denied", "config.import", "storage_asset_scope_update", …
  std::optional<std::string> target;  // what it was done to
  OrderedJson details;                // an object; never a secret
  std::string address;                // client's address, "" when none
  std::string request_id;
};

// An entry with the actor's fields filled in.
Event make_event(const Principal& principal, std::string action, std::optional<std::string> target,
                 OrderedJson details);

// What the log derives from its one key by HKDF: who has only the database has none of these.
struct LogKeys {
  Secret seal;                    // seals each entry
  Secret head;                    // seals the head row
  crypto::Ed25519Key checkpoint;  // signs checkpoints
};
LogKeys derive_log_keys(const Secret& key);

// The head row. `tainted_at` is the first entry that was appended after the head had stopped matching the log
// (another key, a cut tail): the log goes on, and never verifies again.
struct Head {
  std::int64_t count = 0;
  std::string entry_hash;  // 32 raw bytes, empty for no entry
  Frontier frontier;
  std::int64_t tainted_at = 0;
  bool sealed = false;  // by this key, or never written and empty
};
// nullopt when there is no such row, which nobody but a forger removes.
Result<std::optional<Head>> read_head(db::Transaction& tx, const LogKeys& keys);

class Log {
 public:
  // `key` is derived from the signing key.
  Log(db::Sql& sql, const Clock& clock, const Secret& key);
  ~Log();

  // Inside of the caller's write transaction. Returns the entry's sequence number.
  Result<std::int64_t> append(db::Transaction& tx, const Event& event);
  // In a transaction of its own, durable when it returns.
  Result<std::int64_t> append(const Event& event);

  const LogKeys& keys() const { return keys_; }
  const Clock& clock() const { return clock_; }
  db::Sql& sql() { return sql_; }

 private:
  db::Sql& sql_;
  const Clock& clock_;
  LogKeys keys_;
};

}  // namespace dash::audit
