// ssh://[user@]host[:port], as --docker-host takes it. Pure.
#pragma once
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace dash::net {

struct SshAddress {
  std::string user;  // empty: the current user
  std::string host;  // without the brackets of an IPv6 address
  int port = 0;      // 0: not named
};

// Code::usage for anything else, also for what a program could parse as an option.
Result<SshAddress> parse_ssh_address(std::string_view url);

}  // namespace dash::net
