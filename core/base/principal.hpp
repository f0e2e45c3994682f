// The caller of a core function. Made by identity (a session, a token), or by the command line on a data
// directory (local). Every core function that reads or writes takes one, so that none can forget
// authorisation.
#pragma once
#include <set>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace dash {

// The permissions that a user can be granted.
inline constexpr std::string_view kUseChangeWindows = "change_windows:use";
inline constexpr std::string_view kWriteChangeWindows = "change_windows:write";

enum class Via { session, token, local };

struct Principal {
  std::string username;
  bool is_admin = false;
  std::set<std::string> grants;
  std::set<std::string> workgroups;
  Via via = Via::session;
  std::string address;          // client's address, empty when local
  std::string request_id;       // empty when local
  std::string credential_id{};  // of the session or the token, empty when local

  bool has_permission(std::string_view permission) const {
    return is_admin || grants.contains(std::string(permission));
  }
  bool is_member_of(const std::string& workgroup) const { return workgroups.contains(workgroup); }
};

// Code::forbidden "Admin access required".
Result<void> require_admin(const Principal& principal);
Result<void> require_permission(const Principal& principal, std::string_view permission);
// Code::forbidden for a personal access token: a stolen token must not become an account.
Result<void> require_sign_in(const Principal& principal);

// Returns the operator at the shell of the machine that holds the data directory.
Principal local_operator();

}  // namespace dash
