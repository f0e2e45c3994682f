// Accounts for tests of the modules below core/app: written directly to the database, without an audit entry.
#pragma once
#include "core/crypto/password.hpp"
#include "core/identity/sessions.hpp"
#include "tests/support/must.hpp"

namespace dash {

inline void add_account(db::Sql& sql, identity::Directory& directory, const identity::NewUser& user) {
  auto hash = crypto::hash_password(user.password);
  must(sql.write([&](db::Transaction& tx) { return directory.add(tx, user, hash); }));
}

// A login as Accounts makes it.
inline Result<identity::LoginResult> log_in(db::Sql& sql, identity::Passwords& passwords,
                                            identity::Sessions& sessions, const std::string& username,
                                            const Secret& password, const std::string& address) {
  auto attempt = TRY(passwords.verify(username, password, address));
  std::optional<Error> refusal;
  identity::LoginResult login;
  TRY(sql.write([&](db::Transaction& tx) -> Result<void> {
    refusal = TRY(passwords.conclude(tx, attempt));
    if (!refusal) login = TRY(sessions.open(tx, attempt.subject));
    return {};
  }));
  if (refusal) return Failure(*refusal);
  return login;
}

}  // namespace dash
