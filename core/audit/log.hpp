// The append-only, hash-chained audit log (DESIGN §5). An entry is appended in the transaction that it records, and no answer
// leaves before that transaction is durable.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/base/secret.hpp"
#include "core/db/sql.hpp"
#include "core/identity/principal.hpp"

namespace dash::audit {

struct Entry {
  std::string username;
  std::string action;                 // "cloud1:vm:deploy:denied", "config.import", "storage_asset_scope_update", …
  std::optional<std::string> target;  // what it was done to
  OrderedJson details;                // an object; never a secret
  std::string address;                // client's address, "" when none
  std::string request_id;
};

// An entry with the actor's fields filled in.
Entry by(const identity::Principal& who, std::string action, std::optional<std::string> target, OrderedJson details);

class Log {
 public:
  // `key` seals the head row; it is derived from the signing key.
  Log(db::Sql& sql, const Clock& clock, Secret key);
  ~Log();

  // Inside of the caller's write transaction. Returns the entry's sequence number.
  Result<std::int64_t> append(db::Transaction& tx, const Entry& entry);
  // In a transaction of its own, durable when it returns.
  Result<std::int64_t> append(const Entry& entry);

 private:
  db::Sql& sql_;
  const Clock& clock_;
  Secret key_;
};

}  // namespace dash::audit
