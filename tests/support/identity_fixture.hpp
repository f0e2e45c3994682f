// Accounts, sessions and tokens on a database of the test's own.
#pragma once
#include <gtest/gtest.h>

#include "core/crypto/jwt.hpp"
#include "core/identity/directory.hpp"
#include "core/identity/sessions.hpp"
#include "core/identity/setup_code.hpp"
#include "core/identity/tokens.hpp"
#include "tests/support/accounts.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/scratch.hpp"

namespace dash::identity {

inline const Secret kPassword("correct horse");
inline constexpr std::chrono::hours kYear{365 * 24};

class Identity : public testing::Test {
 protected:
  void add(std::string name, bool admin = false) {
    add_account(*sql_, directory_, {std::move(name), kPassword, admin, {}, {}});
  }
  Result<void> in_write(const db::TransactionFn& body) { return sql_->write(body); }
  Result<void> try_add(const NewUser& user) {
    return in_write([&](db::Transaction& tx) { return directory_.add(tx, user, "a hash"); });
  }
  Result<LoginResult> login(const std::string& name, const Secret& password,
                            const std::string& address = "") {
    return log_in(*sql_, passwords_, sessions_, name, password, address);
  }
  Result<IssuedToken> issue(const NewToken& wanted) {
    return db::write<IssuedToken>(*sql_, [&](db::Transaction& tx) { return tokens_.issue(tx, wanted); });
  }
  Scratch scratch_;
  FakeClock clock_;
  std::unique_ptr<db::Sql> sql_ = scratch_database(scratch_);
  Directory directory_{*sql_, clock_};
  Passwords passwords_{*sql_, clock_};
  Secret key_{std::string(32, 'k')};
  Sessions sessions_{*sql_, clock_, directory_, key_};
  Tokens tokens_{*sql_, clock_, directory_};
};

}  // namespace dash::identity
