// Personal access tokens: "dash_" and 64 hex digits, kept as SHA-256, with the full power of their owner
// everywhere except on /api/setup/*. Thread-safe.
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

struct IssuedToken {
  TokenInfo info;
  Secret token;  // shown once
};

// By its prefix; also the peer's.
bool looks_like_pat(std::string_view text);

class Tokens {
 public:
  Tokens(db::Sql& sql, const Clock& clock, Directory& directory)
      : sql_(sql), clock_(clock), directory_(directory) {}
  // `days` 0: never expires. Code::invalid for a negative or absurd number, Code::not_found for an unknown
  // user.
  Result<IssuedToken> issue(const std::string& name, const std::string& username, std::int64_t days);
  // Of one user, or of all when `username` is empty. Newest first.
  Result<std::vector<TokenInfo>> list(const std::string& username);
  // By id; only one of `username`'s unless that is empty. Code::not_found.
  Result<void> revoke(const std::string& id, const std::string& username);
  Result<Principal> authenticate(std::string_view token);

 private:
  db::Sql& sql_;
  const Clock& clock_;
  Directory& directory_;
};

}  // namespace dash::identity
