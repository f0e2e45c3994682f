// Checks that the machine that answers is the intended one, by the operator's known_hosts files, before
// anything is sent to it.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/net/ssh/known_hosts.hpp"
#include "core/net/ssh/ssh_address.hpp"

namespace dash::net {

// Returns the key types to negotiate: `first`, then the others that the library knows.
std::vector<std::string> offered_key_types(std::vector<std::string> first);

class KnownHosts {
 public:
  // Reads `file`; when it is empty, ~/.ssh/known_hosts and the system's file. With a missing file no host is
  // trusted.
  explicit KnownHosts(const std::string& file);

  // Returns the key types to negotiate with the host; those that are listed for it come first.
  std::vector<std::string> key_types(const SshAddress& address) const;

  // Code::unreachable, with what to do, when the key is not trusted. `accept_new` records the key of a host
  // that is not listed yet, and reports it to `note`.
  Result<void> check(const SshAddress& address, const HostKey& key, bool accept_new,
                     const std::function<void(const std::string&)>& note) const;

 private:
  Result<void> append_line(const std::string& line) const;

  std::string file_;  // a new host is recorded here
  std::string text_;
};

// Returns ~/.ssh/<name>.
std::string ssh_file(const std::string& name);

}  // namespace dash::net
