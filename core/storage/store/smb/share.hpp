// Server, share and account from the settings of a UNC path. Pure. Called by share_tree.cpp and registry.cpp.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/secret.hpp"
#include "core/config/encrypted_store.hpp"

namespace dash::storage::smb {

struct Share {
  std::string server;
  std::string share;
  std::string folder;  // beneath the share, '/' between segments; may be empty
  std::string domain;
  std::string user;  // empty: a guest
  Secret password;
  std::uint16_t port = 445;
};

// Recognises "\\server\share[\folder]", and the same with '/'.
bool is_unc(std::string_view path);
// Reads storage_local_path, _username (bare or DOMAIN\user), _password, _domain, _port. Code::invalid names
// the setting.
Result<Share> read_share(const config::Values& values);

// Code::invalid for a name that Windows would refuse or change: one of \ : * ? " < > | in it, or a segment
// that ends with a dot or a space.
Result<void> check_share_path(std::string_view path);

}  // namespace dash::storage::smb
