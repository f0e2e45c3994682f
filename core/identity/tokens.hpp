// Personal access tokens: "dash_" and 64 hex digits, stored as SHA-256. A token has the full power of its
// owner everywhere except on /api/setup/* and for changes of users, tokens and workgroups. Thread-safe.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/db/sql.hpp"
#include "core/identity/directory.hpp"

namespace dash::identity {

inline constexpr std::string_view kTokenPrefix = "dash_";

struct TokenInfo {
  std::string id;
  std::string name;
  std::string username;
  Time created_at;
  std::optional<Time> expires_at;
  std::optional<Time> last_used_at;
  bool is_revoked = false;
};

struct NewToken {
  std::string name;
  std::string username;
  std::int64_t days = 0;  // 0: it never expires
};
// Fails with Code::invalid for a name that cannot be displayed, and for days out of range.
Result<void> check_new_token(const NewToken& token);

struct IssuedToken {
  TokenInfo info;
  Secret token;  // shown once
};

// Recognises a token by its prefix, which deployed dashboards use as well.
bool is_personal_access_token(std::string_view text);

class Tokens {
 public:
  Tokens(db::Sql& sql, const Clock& clock, Directory& directory)
      : sql_(sql), clock_(clock), directory_(directory) {}
  // Changes are part of the caller's transaction, beside the audit entry that records them.

  // Fails with Code::invalid from check_new_token(), Code::not_found for an unknown user, Code::conflict for
  // a disabled one.
  Result<IssuedToken> issue(db::Transaction& tx, const NewToken& token);
  // Revokes by id, and only one of `username`'s unless that is empty. Code::not_found.
  Result<void> revoke(db::Transaction& tx, const std::string& id, const std::string& username);
  // Returns the ids of those that this call revoked.
  Result<std::vector<std::string>> revoke_all(db::Transaction& tx, const std::string& username);
  // Returns the tokens of one user, or of all when `username` is empty. Newest first.
  Result<std::vector<TokenInfo>> list(const std::string& username);
  Result<Principal> authenticate(std::string_view token);

 private:
  // Records the time of use. Best effort: a database that takes no writes must not stop reads.
  void record_use(const TokenInfo& token, Time now);
  db::Sql& sql_;
  const Clock& clock_;
  Directory& directory_;
};

}  // namespace dash::identity
