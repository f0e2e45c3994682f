// Whether the machine that answers is the one that was meant: the operator's known_hosts files, asked before
// anything is said to it.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/net/ssh/known_hosts.hpp"
#include "core/net/ssh/ssh_address.hpp"

namespace dash::net {

class KnownHosts {
 public:
  // From `file`; when it is empty from ~/.ssh/known_hosts and the system's beside it. A missing file trusts
  // nobody.
  explicit KnownHosts(const std::string& file);

  // Key types to ask the host for, those that are known of it first.
  std::vector<std::string> key_types(const SshAddress& address) const;

  // Code::unreachable with what to do when the key is not one to trust. `accept_new` remembers that of a host
  // never seen before, and tells so.
  Result<void> check(const SshAddress& address, const HostKey& key, bool accept_new,
                     const std::function<void(const std::string&)>& note) const;

 private:
  Result<void> append_line(const std::string& line) const;

  std::string file_;  // where a new host is remembered
  std::string text_;
};

// ~/.ssh/<name>
std::string ssh_file(const std::string& name);

}  // namespace dash::net
