#include "core/identity/passwords.hpp"

#include "core/base/utf8.hpp"
#include "core/crypto/hash.hpp"
#include "core/crypto/password.hpp"
#include "core/identity/directory.hpp"

namespace dash::identity {
namespace {

// An unknown name is compared with this hash, so that it takes as long as a known one.
const std::string& decoy_hash() {
  static const std::string hash = crypto::hash_password(Secret(crypto::random_hex(16)));
  return hash;
}

}  // namespace

std::string attempted_username(std::string_view typed) {
  auto name = fold_username(typed);
  return is_utf8(name) && can_be_username(name) ? name : "(no user name)";
}

Result<PasswordAttempt> Passwords::verify(const std::string& username, const Secret& password,
                                          const std::string& address) {
  PasswordAttempt attempt{{attempted_username(username), throttle_network(address)}, false, ""};
  TRY(throttle_.begin_attempt(attempt.subject));
  TRY(sql_.read([&](db::Transaction& tx) -> Result<void> {
    auto rows =
        TRY(tx.query("SELECT password_hash FROM users WHERE username = $1", {attempt.subject.username}));
    if (!rows.empty()) attempt.hash = rows[0].text(0);
    return {};
  }));
  bool has_account = !attempt.hash.empty();
  attempt.is_right =
      crypto::verify_password(password, has_account ? attempt.hash : decoy_hash()) && has_account;
  return attempt;
}

Result<std::optional<Error>> Passwords::conclude(db::Transaction& tx, const PasswordAttempt& attempt) {
  TRY(throttle_.check(tx, attempt.subject));
  auto rows = TRY(
      tx.query("SELECT password_hash, is_active FROM users WHERE username = $1", {attempt.subject.username}));
  if (!attempt.is_right || rows.empty() || rows[0].text(0) != attempt.hash) {
    TRY(throttle_.count(tx, attempt.subject));
    return std::optional(make_error(Code::unauthenticated, "Incorrect username or password"));
  }
  if (!rows[0].flag(1)) return std::optional(make_error(Code::forbidden, "Account disabled"));
  TRY(throttle_.clear_failures(tx, attempt.subject));
  return std::optional<Error>();
}

}  // namespace dash::identity
