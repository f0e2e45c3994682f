// The append-only, hash-chained audit log. An entry is appended in the transaction that it records, and no
// answer leaves before that transaction is durable. One head row holds the length of the log; it is sealed by
// a key outside of the database.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "core/audit/merkle.hpp"
#include "core/base/batching.hpp"
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
  std::optional<std::string> target;  // the object of the action
  OrderedJson details;                // an object; never a secret
  std::string address;                // the client's address, "" when there is none
  std::string request_id;
};

// Returns an entry with the actor's fields filled in.
Event make_event(const Principal& principal, std::string action, std::optional<std::string> target,
                 OrderedJson details);

// The keys that the log derives from its one key by HKDF. A thief of the database alone has none of these.
struct LogKeys {
  Secret seal;                    // seals each entry
  Secret head;                    // seals the head row
  crypto::Ed25519Key checkpoint;  // signs checkpoints
};
LogKeys derive_log_keys(const Secret& key);

// The head row. `tainted_at` is the first entry that was appended after the head had stopped matching the log
// (another key, a cut tail). The log goes on, and never verifies again.
struct Head {
  std::int64_t count = 0;
  std::string entry_hash;  // 32 raw bytes, empty for no entry
  Frontier frontier;
  std::int64_t tainted_at = 0;
  bool sealed = false;  // by this key, or never written and empty
};
// Returns nullopt when the row is missing, which only a forger causes.
Result<std::optional<Head>> read_head(db::Transaction& tx, const LogKeys& keys);

class Log {
 public:
  // `key` is derived from the signing key.
  Log(db::Sql& sql, const Clock& clock, const Secret& key);
  ~Log();

  // Appends inside of the caller's write transaction. Returns the entry's sequence number.
  Result<std::int64_t> append(db::Transaction& tx, const Event& event);
  // Appends in a transaction of its own, which is durable when this returns. Events that wait together share
  // one, which reads and writes the head once.
  Result<std::int64_t> append(const Event& event);

  const LogKeys& keys() const { return keys_; }
  const Clock& clock() const { return clock_; }
  db::Sql& sql() { return sql_; }

 private:
  struct Pending {
    const Event* event;
    Result<std::int64_t> seq = 0;
  };
  using Batch = Batching<Pending>::Batch;
  using Take = Batching<Pending>::Take;
  void append_batch(const Take& take);
  // Sets each seq. After an error none of them counts.
  Result<void> append_all(db::Transaction& tx, const Batch& batch);

  db::Sql& sql_;
  const Clock& clock_;
  LogKeys keys_;
  Batching<Pending> batches_{[this](const Take& take) { append_batch(take); }};
};

}  // namespace dash::audit
