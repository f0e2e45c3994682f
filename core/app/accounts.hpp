// Administration of users and tokens with authorisation and audit: what `dashctl user`, `dashctl token`,
// /api/users and /api/tokens call.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/app/services.hpp"
#include "core/base/json.hpp"
#include "core/identity/directory.hpp"
#include "core/identity/sessions.hpp"
#include "core/identity/tokens.hpp"

namespace dash::app {

// What an admin may change of an account; absent members stay.
struct UserChange {
  std::optional<Secret> password;
  std::optional<bool> is_admin;
  std::optional<bool> is_active;
  std::vector<std::string> grant;
  std::vector<std::string> ungrant;
};

// Sessions::login, audited as user.login or user.login_failed; a throttled attempt writes nothing, so that
// who guesses cannot fill the log.
struct SignIn {
  std::string username;
  Secret password;
  std::string address, request_id;
};
Result<identity::Login> sign_in(Services& s, const SignIn& attempt);

Result<identity::User> add_user(Services& s, const identity::Principal& who, const identity::NewUser& user);
// One's own password needs no admin; one's own admin flag and account cannot be taken away (Code::invalid).
Result<identity::User> change_user(Services& s, const identity::Principal& who, const std::string& username,
                                   const UserChange& change);
Result<std::vector<identity::User>> list_users(Services& s, const identity::Principal& who);

// For oneself, or as an admin for anybody.
Result<identity::IssuedToken> issue_token(Services& s, const identity::Principal& who,
                                          const std::string& name, const std::string& username,
                                          std::int64_t days);
Result<std::vector<identity::TokenInfo>> list_tokens(Services& s, const identity::Principal& who,
                                                     const std::string& username);
Result<void> revoke_token(Services& s, const identity::Principal& who, const std::string& id);

OrderedJson to_json(const identity::User& user);
OrderedJson to_json(const identity::TokenInfo& token);

}  // namespace dash::app
